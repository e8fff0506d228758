import type { Proxy } from "./app.ts";

/** A WebSocket frame: 1 text, 8 close, 9 ping (RFC 6455, section 5.2). */
export interface Frame {
  readonly opcode: number;
  readonly payload: Buffer;
}

/** A WebSocket client that does nothing by itself: it answers no ping and reads only when told. */
export interface RawSocket {
  readonly frames: readonly Frame[];
  send(text: string): void;
  pong(): void;
  /** Stops reading, so that what the server sends piles up. */
  pause(): void;
  resume(): void;
  /** Resolves with the first frame, of those to come or come already, that satisfies. */
  frame(wanted: (frame: Frame) => boolean): Promise<Frame>;
  readonly closed: Promise<void>;
  end(): void;
}

/** Opens a raw socket with the proxy's key. */
export async function openRawSocket(proxy: Proxy): Promise<RawSocket> {
  const { hostname, port, pathname } = new URL(proxy.url());
  const frames: Frame[] = [];
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  let received = Buffer.alloc(0);
  let isOpen = false;
  let onFrame: (() => void) | undefined;

  const read = () => {
    if (!isOpen) {
      const end = received.indexOf("\r\n\r\n");
      if (end === -1) return;
      received = received.subarray(end + 4);
      isOpen = true;
      opened.resolve();
    }
    for (let frame = takeFrame(); frame; frame = takeFrame()) frames.push(frame);
    onFrame?.();
  };
  const takeFrame = (): Frame | undefined => {
    if (received.length < 2) return undefined;
    const short = received.readUInt8(1);
    const header = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (received.length < header) return undefined;
    const length =
      short < 126
        ? short
        : short === 126
          ? received.readUInt16BE(2)
          : Number(received.readBigUInt64BE(2));
    if (received.length < header + length) return undefined;
    const frame = {
      opcode: received.readUInt8(0) & 0x0f,
      payload: received.subarray(header, header + length),
    };
    received = received.subarray(header + length);
    return frame;
  };

  const tcp = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_, chunk) {
        received = Buffer.concat([received, chunk]);
        read();
      },
      close: () => closed.resolve(),
      error: () => closed.resolve(),
    },
  });
  tcp.write(
    `GET ${pathname} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nx-api-key: ${proxy.secret}\r\n` +
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  await opened.promise;

  /** A masked frame; a mask of zeros leaves the payload as it is. */
  const write = (opcode: number, payload: Buffer) => {
    const length =
      payload.length < 126
        ? Buffer.from([0x80 | payload.length])
        : Buffer.from([0xfe, payload.length >> 8, payload.length & 0xff]);
    tcp.write(Buffer.concat([Buffer.from([0x80 | opcode]), length, Buffer.alloc(4), payload]));
  };
  return {
    frames,
    closed: closed.promise,
    send: (text) => write(1, Buffer.from(text)),
    pong: () => write(10, Buffer.alloc(0)),
    pause: () => tcp.pause(),
    resume: () => tcp.resume(),
    frame: (wanted) =>
      new Promise((resolve) => {
        onFrame = () => {
          const found = frames.find(wanted);
          if (found) resolve(found);
        };
        onFrame?.();
      }),
    end: () => tcp.end(),
  };
}
