import { putNumber, putText } from "../lib/ascii.ts";
import type { RpcCall } from "./types.ts";

/** A request's JSON, written where it is sent from. */
export interface RequestText {
  /** UTF-16 units it has, at most. */
  readonly length: number;
  /** @returns where it ends */
  writeTo(target: Buffer, at: number): number;
}

const START = '{"jsonrpc":"2.0","id":';
const NO_PARAMS = "[]";
/** Length of what stands around method and params, the longest id included. */
const FRAME_LENGTH = 64;

/** Names that JSON writes as they are. */
const plainName = /^\w+$/;
/** Methods whose part is remembered; callers may make up names, those of real methods come first. */
const MAX_KNOWN = 512;
const known = new Map<string, string>();

/** UTF-16 units of a call's request, at most. */
export function callLength({ method, params = NO_PARAMS }: RpcCall): number {
  return FRAME_LENGTH + methodPart(method).length + params.length;
}

/** Writes the request of a call. @returns where it ends */
export function writeCall(target: Buffer, start: number, call: RpcCall, id: number): number {
  const { method, params = NO_PARAMS } = call;
  let at = putText(target, start, START);
  at = putNumber(target, at, id);
  at = putText(target, at, methodPart(method));
  at += target.write(params, at, "utf8");
  return putText(target, at, "}");
}

/** What stands between id and params; ASCII. */
function methodPart(method: string): string {
  const found = known.get(method);
  if (found !== undefined) return found;
  const part = `,"method":${quoted(method)},"params":`;
  if (known.size < MAX_KNOWN) known.set(method, part);
  return part;
}

function quoted(method: string): string {
  if (plainName.test(method)) return `"${method}"`;
  return JSON.stringify(method).replaceAll(notAscii, escaped);
}

const notAscii = /[^\x20-\x7e]/g;

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
