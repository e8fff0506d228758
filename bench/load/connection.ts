import type { Socket } from "bun";

/** An answer as far as a load generator looks at it. */
export interface Answer {
  readonly status: number;
  readonly bytes: number;
  readonly right: boolean;
}

/** One keep-alive HTTP/1.1 connection that carries one request at a time. */
export interface LoadConnection {
  readonly isOpen: boolean;
  /** Sends a request; `done` is called once, with undefined when the connection broke. */
  send(request: string, done: (answer: Answer | undefined) => void): void;
  close(): void;
}

/** Bytes of a body that are searched for what a right answer holds. */
const LOOKED_AT = 1_024;

interface State {
  done: ((answer: Answer | undefined) => void) | undefined;
  /** What came so far, as far as it is looked at: the head and the beginning of the body. */
  start: string;
  /** Body bytes still to come; undefined while the head is being read. */
  left: number | undefined;
  status: number;
  bytes: number;
  right: boolean;
  /** Where the body begins in `start`. */
  bodyAt: number;
  /** Rest of a request the socket has not taken yet. */
  unsent: Buffer | undefined;
  isOpen: boolean;
}

/**
 * Opens a connection.
 * @param expects - as in `Target`
 */
export async function openConnection(
  hostname: string,
  port: number,
  expects: string,
): Promise<LoadConnection> {
  const pattern = new RegExp(expects);
  const state: State = {
    done: undefined,
    start: "",
    left: undefined,
    status: 0,
    bytes: 0,
    right: false,
    bodyAt: 0,
    unsent: undefined,
    isOpen: true,
  };
  const end = () => {
    state.isOpen = false;
    finish(state, undefined);
  };
  const socket = await Bun.connect({
    hostname,
    port,
    socket: {
      data: (_socket, chunk) => receive(state, chunk, pattern),
      drain: (opened) => flush(opened, state),
      close: end,
      error: end,
      connectError: end,
    },
  });
  socket.setNoDelay(true);
  return {
    get isOpen() {
      return state.isOpen;
    },
    send(request, done) {
      state.done = done;
      state.start = "";
      state.left = undefined;
      const written = socket.write(request);
      if (written < request.length) state.unsent = Buffer.from(request).subarray(written);
    },
    close: () => socket.end(),
  };
}

function flush(socket: Socket, state: State): void {
  if (!state.unsent) return;
  const written = socket.write(state.unsent);
  state.unsent = written < state.unsent.length ? state.unsent.subarray(written) : undefined;
}

function receive(state: State, chunk: Buffer, expects: RegExp): void {
  if (state.left === undefined) {
    state.start += chunk.toString("latin1");
    const end = state.start.indexOf("\r\n\r\n");
    if (end === -1) return;
    const head = state.start.slice(0, end + 2);
    state.status = Number(head.slice(9, 12));
    // An answer without a length cannot be told from a broken one, so it counts as wrong.
    state.bytes = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? Number.NaN);
    if (Number.isNaN(state.bytes)) return finish(state, undefined);
    state.bodyAt = end + 4;
    state.left = state.bytes - (state.start.length - state.bodyAt);
  } else {
    state.left -= chunk.length;
    if (state.start.length - state.bodyAt < LOOKED_AT) state.start += chunk.toString("latin1");
  }
  if (state.left > 0) return;
  state.right = state.status === 200 && expects.test(state.start.slice(state.bodyAt));
  finish(state, state);
}

function finish(state: State, answer: Answer | undefined): void {
  const { done } = state;
  state.done = undefined;
  done?.(answer);
}
