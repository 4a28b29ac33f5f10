/**
 * Where a message about a run may be sent: encrypted, or to this machine alone.
 * Owns the one pattern, for the language and for the sender. No credentials stand in an address.
 */
export const WEBHOOK_ADDRESS =
  /^(?:https:\/\/[^\s/?#@\\]{1,253}|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?)(?:[/?][^\s#]{0,1500})?$/;
