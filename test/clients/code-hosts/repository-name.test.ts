/**
 * Names and requests that the Git relay must recognise or refuse.
 */
import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { parseGitRequest, tokenOf } from '../../../clients/code-hosts/git-request.ts';
import { parseRepositoryName } from '../../../clients/code-hosts/repository-name.ts';

describe('parseRepositoryName()', () => {
  it.each(['acme/app', 'a/b.c', 'group/sub/repo', '_x/y_z', 'a1/b-2'])('accepts %s', (name) => {
    expect(parseRepositoryName(name)).not.toBeNull();
  });

  it.each([
    'app',
    '/app',
    'acme/',
    'acme//app',
    '../app',
    'acme/..',
    'acme/.hidden',
    '-x/app',
    'acme/app.git',
    'acme/app.lock',
    'acme/a..b',
    'acme/a b',
    'acme/a%2fb',
    'acme/a\\b',
    'acme/a\0b',
    'acme/a\nb',
    'a/b/c/d/e/f/g/h/i',
    'acme/a.',
    'acme/a?b',
  ])('refuses %j', (name) => {
    expect(parseRepositoryName(name)).toBeNull();
  });

  it('accepts no text that a file system or a URL could read as another place', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '.', '/', '-', '%', '\\', '~', ' ', '\0') }),
        (text) => {
          const parsed = parseRepositoryName(text);
          if (parsed === null) return;
          expect(new URL(`http://h/${text}`).pathname).toBe(`/${text}`);
          expect(`${parsed.owner}/${parsed.repo}`).toBe(text);
        },
      ),
    );
  });
});

describe('parseGitRequest()', () => {
  const refs = '/info/refs?service=git-upload-pack';

  it('recognises the two read requests', () => {
    const read = { kind: 'read', provider: 'github', name: 'acme/app' };
    expect(parseGitRequest('GET', `/github/acme/app.git${refs}`)).toEqual({
      ...read,
      endpoint: '/info/refs',
    });
    expect(parseGitRequest('POST', '/github/acme/app.git/git-upload-pack')).toEqual({
      ...read,
      endpoint: '/git-upload-pack',
    });
  });

  it.each([
    ['GET', `/github/../../etc.git${refs}`, 404],
    ['GET', `/github/acme/%2e%2e/app.git${refs}`, 404],
    ['GET', `//github/acme/app.git${refs}`, 404],
    ['GET', `http://elsewhere/github/acme/app.git${refs}`, 404],
    ['GET', `/github/acme/app${refs}`, 404],
    ['GET', '/github/acme/app.git/HEAD', 404],
    ['GET', '/github/acme/app.git/objects/info/packs', 404],
    ['GET', '/github/acme/app.git/info/refs', 403],
    ['GET', '/github/acme/app.git/info/refs?service=git-receive-pack', 403],
    ['POST', '/github/acme/app.git/git-receive-pack', 403],
    ['POST', `/github/acme/app.git${refs}`, 405],
    ['GET', '/github/acme/app.git/git-upload-pack', 405],
    ['GET', '', 404],
  ])('refuses %s %s with %i', (method, target, status) => {
    expect(parseGitRequest(method, target)).toMatchObject({ kind: 'refused', status });
  });
});

describe('tokenOf()', () => {
  const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

  it.each([
    [undefined, null],
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    [basic('x-access-token:abc'), 'abc'],
    [basic('anybody:a:b'), 'a:b'],
    [basic('x-access-token:'), null],
    ['Digest abc', null],
    ['Bearer', null],
  ])('reads %s', (header, token) => {
    expect(tokenOf(header)).toBe(token);
  });
});
