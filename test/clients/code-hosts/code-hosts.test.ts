/**
 * Templates of code hosts: what they resolve to, and which are refused when the configuration is read.
 */
import { describe, expect, it } from 'vitest';
import { PUBLIC_CODE_HOSTS, createCodeHosts } from '../../../clients/code-hosts/code-hosts.ts';

describe('createCodeHosts()', () => {
  it('fills templates, and knows a default', () => {
    const hosts = createCodeHosts({ hosts: PUBLIC_CODE_HOSTS });
    expect(hosts.locate({ provider: null, name: 'acme/app' })).toEqual({
      provider: 'github',
      name: 'acme/app',
      place: { kind: 'remote', url: 'https://github.com/acme/app.git' },
    });
    expect(hosts.locate({ provider: 'gitlab', name: 'a/b/c' }).place).toEqual({
      kind: 'remote',
      url: 'https://gitlab.com/a/b/c.git',
    });
    expect(
      hosts.cloneUrl({ provider: 'azure_devops', name: 'org/project/repo' }, 'http://127.0.0.1:4102'),
    ).toBe('http://127.0.0.1:4102/azure_devops/org/project/repo.git');
  });

  it.each([
    ['file:/srv/git/{owner}/{repo}.git', '/srv/git/acme/app.git', '/srv/git'],
    ['file:///srv/git/{name}.git', '/srv/git/acme/app.git', '/srv/git'],
    ['file:repositories/{repo}', '/base/repositories/app', '/base/repositories'],
    ['file:/srv/prefix-{repo}', '/srv/prefix-app', '/srv'],
  ])('resolves %s', (url, path, root) => {
    const hosts = createCodeHosts({ hosts: { local: { url } }, baseDir: '/base' });
    expect(hosts.locate({ provider: null, name: 'acme/app' }).place).toEqual({
      kind: 'directory',
      path,
      root,
    });
  });

  it.each([
    [{ github: { url: 'ssh://host/{name}' } }, 'neither https:, http: nor file:'],
    [{ github: { url: 'https://host/repo' } }, 'neither {repo} nor {name}'],
    [{ github: { url: 'https://host/{nmae}/{repo}' } }, '"{nmae}"'],
    [{ github: { url: 'https://user:pass@host/{name}' } }, 'a credential'],
    [{ github: { url: 'https://{owner}.host/{repo}' } }, 'before the path'],
    [{ 'Git Hub': { url: 'https://host/{name}' } }, 'its word'],
    [
      { a: { url: 'https://a/{name}', default: true }, b: { url: 'https://b/{name}', default: true } },
      'all the default',
    ],
  ])('refuses %j', (hosts, problem) => {
    expect(() => createCodeHosts({ hosts })).toThrow(expect.objectContaining({ code: 'config_invalid' }));
    expect(() => createCodeHosts({ hosts })).toThrow(problem);
  });

  it('names what it knows when asked for something else', () => {
    const hosts = createCodeHosts({
      hosts: { a: { url: 'https://a/{name}' }, b: { url: 'https://b/{name}' } },
    });
    expect(() => hosts.locate({ provider: 'c', name: 'x/y' })).toThrow(
      'unknown provider "c", expected one of "a", "b"',
    );
    expect(() => hosts.locate({ provider: null, name: 'x/y' })).toThrow('none is the default');
    expect(() => hosts.locate({ provider: 'a', name: '../y' })).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
  });
});
