/**
 * What the proxy needs of a logger.
 * Owns the interface only; must never be handed a key, a prompt, a completion or a gateway's address.
 */

export type LogFields = Readonly<Record<string, string | number | boolean | null>>;

/** The three levels the proxy uses, fields first, as pino takes them. */
export interface ProxyLog {
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}
