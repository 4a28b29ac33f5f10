/**
 * How far the tools of an agent are kept from their Agent Server in a container, in the words of `parley doctor`.
 * Owns the words; whether they are apart, the runtime says.
 */

export function toolsWords(areApart: boolean): string {
  return `tools are ${areApart ? 'another user than' : 'beside'} their Agent Server`;
}
