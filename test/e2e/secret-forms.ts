/**
 * The spellings in which a secret could have got out.
 * Must not know where they are looked for.
 */

/** Raw, base64 and base64url at each of the three alignments, URL-encoded, and as it stands inside JSON. */
export function secretForms(secret: string): readonly string[] {
  const encodings = [0, 1, 2].flatMap((shift) => {
    // What stands before and after shares characters with the secret's ends; the inner ones depend on it alone.
    const text = Buffer.from('x'.repeat(shift) + secret).toString('base64');
    const inner = text.slice(Math.ceil((shift * 4) / 3), Math.floor(((shift + secret.length) * 4) / 3 - 1));
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
  const formEncoded = new URLSearchParams({ s: secret }).toString().slice(2);
  return [
    ...new Set([
      secret,
      JSON.stringify(secret).slice(1, -1),
      encodeURIComponent(secret),
      encodeURI(secret),
      formEncoded,
      Buffer.from(secret).toString('hex'),
      ...encodings,
    ]),
  ];
}

/** The first form that is in the bytes; null when none is. */
export function formIn(bytes: Buffer, forms: readonly string[]): string | null {
  return forms.find((form) => bytes.includes(form)) ?? null;
}
