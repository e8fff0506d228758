import pino from "pino";

/** Structured JSON logs, one line per event. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** URLs may carry node tokens in their path or query, so log lines keep only the origin. */
const URL_TAIL = /\b((?:https?|wss?):\/\/)(?:[^\s/"'@]*@)?([^\s/"'?#]+)[^\s"']*/g;
const API_KEY = /\bsk_(live|test)_[0-9a-f]+/g;

/** Replaces what must never be written down: API keys and everything in a URL but its host. */
export function redact(line: string): string {
  return line.replaceAll(API_KEY, "sk_$1_[redacted]").replaceAll(URL_TAIL, "$1$2");
}

/**
 * The process's logger; writes to standard output.
 * @param level - pino level name, such as `info` or `silent`
 */
export function createLogger(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { error: pino.stdSerializers.err },
    },
    { write: (line: string) => process.stdout.write(redact(line)) },
  );
}

/** A logger that keeps quiet, for tests and tools. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
