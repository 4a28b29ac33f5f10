/**
 * nginx as a reverse proxy: what compiled code takes for passing a call on.
 * Owns its configuration: one process, connections that are kept on both sides, streams that are not held.
 */
import { spawnSync } from 'node:child_process';

export const NGINX_MISSING = spawnSync('nginx', ['-v']).error !== undefined;

/** Modules that are not used make their folders all the same, where nobody but root may. */
const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

export function nginxConfig(of: {
  readonly folder: string;
  readonly port: number;
  readonly upstream: string;
}): string {
  return [
    // One process, so that its time is all of it.
    'daemon off; master_process off;',
    `pid ${of.folder}/nginx.pid; error_log stderr crit;`,
    'events { worker_connections 2048; }',
    'http {',
    ...TEMPORARY.map((name) => `  ${name}_temp_path ${of.folder}/nginx-${name};`),
    '  access_log off; client_max_body_size 0; client_body_buffer_size 2m; proxy_buffering off;',
    '  keepalive_requests 1000000000;',
    `  upstream gateway { server ${new URL(of.upstream).host}; keepalive 512; keepalive_requests 1000000000; }`,
    `  server { listen 127.0.0.1:${of.port};`,
    '    location / { proxy_pass http://gateway; proxy_http_version 1.1; proxy_set_header Connection ""; }',
    '  }',
    '}',
    '',
  ].join('\n');
}
