/** Where reports link to: a web address that the operator has named, and no other. */
import { expect, it } from 'vitest';
import { withConsole } from '../../../host/serve/console-url.ts';
import type { DeploymentConfig } from '../../../host/config/deployment-config.ts';

const CONFIG = { deployment: { vendor: 'x' } } as unknown as DeploymentConfig;

it.each([
  ['https://parley.example', 'https://parley.example/console'],
  ['https://parley.example/team/', 'https://parley.example/team/console'],
  ['http://10.0.0.1:8080', 'http://10.0.0.1:8080/console'],
  ['javascript:alert(1)', undefined],
  ['not an address', undefined],
  [null, undefined],
])('public address %j: console at %j', (publicUrl, consoleUrl) => {
  const application = { publicUrl } as never;
  const { deployment } = withConsole(CONFIG, { application });
  expect(deployment.consoleUrl).toBe(consoleUrl);
  expect(deployment.vendor).toBe('x');
});

it('is nowhere without a service', () => {
  expect(withConsole(CONFIG, {})).toBe(CONFIG);
});
