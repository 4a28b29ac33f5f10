/**
 * How a credential is shown to a code host.
 * Owns the form of the header; must not keep or print the credential.
 */

/** Value of `Authorization` for a token: the name beside it says nothing, by custom. */
export function basicAuthorization(token: string): string {
  return `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`;
}
