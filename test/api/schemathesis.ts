/**
 * Schemathesis, unmodified, against a service by its own OpenAPI document.
 * Owns the call and what it may find in order; must not leave out a check.
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { requirePeerPython } from '../helpers/python-peers.ts';
import { seedsOf } from '../helpers/seeds.ts';
import { tempDir } from '../helpers/temp-dir.ts';

export interface Campaign {
  readonly url: string;
  readonly key: string;
  /** READY, for what is only done in one that is. */
  readonly conversationId: string;
  /** A sandbox that is up, for the routes that only its own key opens. */
  readonly sandboxId: string;
  readonly sessionKey: string;
  /** For each operation. */
  readonly examples: number;
  readonly phases: string;
}

export interface Findings {
  readonly exitCode: number;
  /** Requests that were made and checked. */
  readonly cases: number;
  readonly report: string;
}

/** Reports of thousands of cases. */
const REPORT_BYTES_MAX = 64 * 1024 * 1024;

export async function tryOut(campaign: Campaign): Promise<Findings> {
  const folder = tempDir();
  const config = path.join(folder, 'schemathesis.toml');
  writeFileSync(config, configOf(campaign));
  const args = ['-m', 'schemathesis.cli', '--config-file', config, 'run', `${campaign.url}/openapi.json`];
  const options = {
    '--header': `Authorization: Bearer ${campaign.key}`,
    '--checks': 'all',
    '--phases': campaign.phases,
    '--max-examples': String(campaign.examples),
    '--seed': String(seedsOf('schemathesis').seed),
    '--workers': '2',
    '--generation-database': 'none',
    '--request-timeout': '60',
    // How fast this machine makes values up is no finding.
    '--suppress-health-check': 'too_slow',
  };
  const flags = ['--continue-on-failure', '--no-shrink', '--no-color'];
  const { exitCode, report } = await run([...args, ...Object.entries(options).flat(), ...flags], folder);
  return { exitCode, report, cases: Number(/^\s+(\d+) generated/m.exec(report)?.[1] ?? 0) };
}

async function run(args: readonly string[], cwd: string): Promise<{ exitCode: number; report: string }> {
  const options = {
    cwd,
    maxBuffer: REPORT_BYTES_MAX,
    env: { PATH: process.env['PATH'] ?? '', PYTHONDONTWRITEBYTECODE: '1' },
  };
  try {
    const { stdout } = await promisify(execFile)(requirePeerPython('schemathesis'), [...args], options);
    return { exitCode: 0, report: stdout };
  } catch (error) {
    const { code, stdout, stderr } = error as { code?: number; stdout?: string; stderr?: string };
    return { exitCode: code ?? -1, report: `${stdout ?? String(error)}${stderr ?? ''}` };
  }
}

/** What needs a conversation at work; whatever else takes an id is also tried with ids that are none. */
const IN_CONVERSATION = [
  'send_message',
  'queue_pending_message',
  'answer_confirmation',
  'interrupt_agent',
  'list_skills',
  'list_hooks',
];

/** As those, and of a path in its workspace: where one leads is no matter of a schema. */
const BY_PATH = ['read_workspace_file', 'list_workspace_files', 'list_git_changes', 'read_git_diff'];

/**
 * Refusals that are right and that its lists leave out: 431 for an address that is too long, 410 for what is gone.
 * Two ids of one sandbox that differ are no matter of a schema, nor is the hash of a plan, nor are two instants of which
 * the later one comes first.
 */
function configOf({ conversationId, sandboxId, sessionKey }: Campaign): string {
  const refusals = [400, 401, 403, 404, 405, 406, 409, 410, 413, 415, 422, 428, 429, 431];
  return [
    '[checks.negative_data_rejection]',
    `expected-statuses = ${JSON.stringify(refusals)}`,
    '[[operations]]',
    'include-operation-id = ["delete_sandbox", "get_spend", "simulate_job", "draw_job_simulation", "submit_run"]',
    'checks.positive_data_acceptance.expected-statuses = ["2xx", 404, 422]',
    '[[operations]]',
    `include-operation-id = ${JSON.stringify(IN_CONVERSATION)}`,
    `parameters = { "path.conversation_id" = "${conversationId}" }`,
    '[[operations]]',
    `include-operation-id = ${JSON.stringify(BY_PATH)}`,
    `parameters = { "path.conversation_id" = "${conversationId}" }`,
    'checks.positive_data_acceptance.expected-statuses = ["2xx", 404, 422]',
    '[[operations]]',
    'include-operation-id = "get_sandbox_impact"',
    'checks.positive_data_acceptance.expected-statuses = ["2xx", 404, 410]',
    '[[operations]]',
    'include-operation-id = ["list_sandbox_secrets", "get_sandbox_secret"]',
    `headers = { X-Session-API-Key = "${sessionKey}" }`,
    `parameters = { "path.sandbox_id" = "${sandboxId}" }`,
    '',
  ].join('\n');
}
