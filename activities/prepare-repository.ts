/**
 * prepareRepository: a working directory with the repository in it, and the commit it starts from.
 * Owns the clone; a clone that fails ends the start (D18). The credential of a host never enters the sandbox (D19).
 */
import type { CommandOf } from '../core/machine/command.ts';
import { isCommitId } from '../core/commit-id.ts';
import { ParleyError } from '../core/parley-error.ts';
import { quoted } from '../core/text/shell-word.ts';
import { refusedAs, type Handler } from './activity.ts';
import { agentTarget, type OwnTarget } from './agent-target.ts';
import { withGitCredential, writeGitCredential } from './git-credential.ts';
import { launchFacts, type LaunchFacts, type LaunchRepository } from './launch-facts.ts';
import { endLeftovers } from './leftover-processes.ts';
import { runScript } from './in-sandbox.ts';
import { bringsNone, lookForScripts, noteScripts, SETUP_SCRIPT } from './own-scripts.ts';
import type { World } from './world.ts';

/** Enough for large repositories over a slow line; after it the step has failed. */
const CLONE_TIMEOUT_MS = 600_000;
/** How much of an unexpected answer is kept in an error. */
const SAID_CHARS_MAX = 200;

/** Nothing is fetched, and the host's configuration is ignored. */
const WITHOUT_CREDENTIAL = 'set -e\nexport GIT_CONFIG_GLOBAL=/dev/null';

type Prepare = CommandOf<'prepareRepository'>;

export const prepareRepository = (world: World): Handler<'prepareRepository'> => ({
  run: async (command) => {
    const target = await agentTarget(world, command);
    const base = `${target.address.workspaceDir}/${command.conversationId}`;
    const workingDir =
      command.repository === null ? base : `${base}/${command.repository.split('/').at(-1) ?? 'project'}`;
    const { conversationId, id: commandId } = command;
    const launch = await launchFacts(world.vault, conversationId);
    const baseCommit = await prepare(world, target, command, workingDir, launch);
    await world.workspaces.putFacts(conversationId, { workingDir, baseCommit });
    const isSetUp = launch.setup === null && bringsNone(world, conversationId, [SETUP_SCRIPT]);
    return { type: 'repositoryPrepared', commandId, ...(isSetUp ? { isSetUp } : {}) };
  },
  failed: refusedAs('stepFailed'),
});

async function prepare(
  world: World,
  target: OwnTarget,
  command: Prepare,
  workingDir: string,
  { gitAuthor, repository: facts }: LaunchFacts,
): Promise<string> {
  const author = gitAuthor ?? world.deployment.gitAuthor;
  const script =
    command.repository === null
      ? emptyScript(workingDir, author)
      : cloneScript(cloneUrl(world, target, command), {
          ...{ command, workingDir, author, facts },
          addresses: Object.values(addressOfHost(world, target, command)).filter((one) => one !== null),
        });
  const before =
    command.repository === null
      ? WITHOUT_CREDENTIAL
      : withGitCredential(await writeCredential(world, target, command, workingDir));
  const result = await runScript(world, target, {
    script: [
      await endLeftovers(world, command),
      before,
      script,
      identifyElsewhere(author),
      lookForScripts(workingDir),
      headOf(workingDir),
    ].join('\n'),
    workingDir: target.address.workspaceDir,
    timeoutMs: CLONE_TIMEOUT_MS,
    code: 'repository_failed',
    doing: command.repository === null ? 'prepare the workspace' : `clone repository "${command.repository}"`,
  });
  noteScripts(world, command.conversationId, result.stdout);
  return commitIn(result.stdout);
}

/** Another program in the sandbox may have answered instead: text that is no commit is not stored (D31). */
function commitIn(output: string): string {
  const last = output.trim().split('\n').at(-1) ?? '';
  if (isCommitId(last)) return last;
  const said = JSON.stringify(last.slice(0, SAID_CHARS_MAX));
  throw new ParleyError('repository_failed', `Cannot prepare the workspace: Git answered ${said}, no commit`);
}

/** The relay on our side identifies the conversation by this key, and serves it only its own repository. */
async function writeCredential(
  world: World,
  target: OwnTarget,
  command: Prepare,
  workingDir: string,
): Promise<string> {
  const path = `${workingDir}.gitconfig`;
  const { conversationId, generation } = command;
  const address = addressOfHost(world, target, command);
  await writeGitCredential(world, target, { conversationId, generation, path, address });
  return path;
}

/** Prints the commit, or the empty tree if there is none. The file of a new branch is read without a process. */
function headOf(dir: string): string {
  const folder = quoted(`${dir}/.git`);
  const branch = '"${head#ref: }"';
  return [
    `head= commit=`,
    `if [ -f ${folder}/HEAD ]; then read -r head < ${folder}/HEAD || :; fi`,
    `if [ "$head" != ${branch} ] && [ -f ${folder}/${branch} ]; then read -r commit < ${folder}/${branch} || :; fi`,
    `case "$commit" in '' | *[!0-9a-f]*) git -C ${quoted(dir)} rev-parse --quiet --verify HEAD || git -C ${quoted(dir)} hash-object -t tree -w /dev/null ;; *) echo "$commit" ;; esac`,
  ].join('\n');
}

function cloneUrl(world: World, target: OwnTarget, { codeHost: provider, repository }: Prepare): string {
  return world.clones.cloneUrl({ provider, name: repository ?? '' }, target.address.routes.gitUrl);
}

function addressOfHost(world: World, target: OwnTarget, { codeHost: provider, repository }: Prepare) {
  return world.clones.addressOfHost({ provider, name: repository ?? '' }, target.address.routes.gitUrl);
}

type Author = World['deployment']['gitAuthor'];

interface CloneOrder {
  readonly command: Prepare;
  readonly workingDir: string;
  readonly author: Author;
  readonly facts: LaunchRepository | null;
  /** What repositories of the host begin with. */
  readonly addresses: readonly string[];
}

/**
 * Cloned aside and moved into place, so that a repeat never takes half a clone for a whole one. Files of Git LFS stay
 * on the server, unless the job asks for them.
 */
function cloneScript(url: string, { command, workingDir, author, facts, addresses }: CloneOrder): string {
  const { branch } = command;
  const ref = facts?.ref ?? (branch !== null && isCommitId(branch) ? branch : null);
  const from = `-- ${quoted(url)}`;
  return madeAside(workingDir, (aside) => [
    'export GIT_LFS_SKIP_SMUDGE=1',
    ...(ref === null
      ? [`git clone --quiet${branch === null ? '' : ` --branch ${quoted(branch)}`} ${from} ${aside} 1>&2`]
      : [`git clone --quiet --no-checkout ${from} ${aside} 1>&2`, ...checkOut(aside, ref)]),
    ...(facts?.submodules === true ? fetchSubmodules(aside, addresses) : []),
    ...(facts?.lfs === true ? fetchLfs(aside, url) : []),
    identify(aside, author),
  ]);
}

/**
 * Its filters are this clone's, without hooks of its own, so that what the agent commits is kept by Git LFS, too. The
 * address is the relay's, even if a file in the repository names another.
 */
function fetchLfs(aside: string, url: string): readonly string[] {
  const git = `git -C ${aside}`;
  const absent = 'repo.lfs needs the program git-lfs in the sandbox: install it in its image or on its host';
  return [
    `git lfs version >/dev/null 2>&1 || { echo ${quoted(absent)} >&2; exit 1; }`,
    `${git} lfs install --local --skip-repo 1>&2`,
    `${git} -c lfs.url=${quoted(`${url}/info/lfs`)} lfs pull 1>&2`,
  ];
}

/** The relay serves repositories only under names with `.git`, and many submodules are named without it. */
function fetchSubmodules(aside: string, addresses: readonly string[]): readonly string[] {
  const git = `git -C ${aside}`;
  const short = addresses.map((address) => `${quoted(address)}*`).join(' | ');
  const rename = `case "$url" in *.git) ;; ${short}) ${git} config "$key" "$url.git" ;; esac`;
  return [
    `${git} submodule --quiet init 1>&2`,
    `${git} config --get-regexp '^submodule\\..*\\.url$' | while read -r key url; do ${rename}; done`,
    `${git} submodule --quiet update --init --recursive 1>&2`,
  ];
}

/** A commit that no branch holds is fetched by its id, which not every host allows. */
function checkOut(aside: string, ref: string): readonly string[] {
  const git = `git -C ${aside}`;
  const names = [...(isCommitId(ref) ? [] : [`refs/tags/${ref}`, `refs/remotes/origin/${ref}`]), ref];
  const poll = names.map(
    (name) => `${git} rev-parse --quiet --verify --end-of-options ${quoted(`${name}^{commit}`)}`,
  );
  const fetched = `{ ${git} fetch --quiet origin ${quoted(ref)} 1>&2 && ${git} rev-parse --quiet --verify FETCH_HEAD; }`;
  const missing = `{ echo ${quoted(`there is no tag and no commit "${ref}"`)} >&2; exit 1; }`;
  return [
    `at=$(${[...poll, ...(isCommitId(ref) ? [fetched] : [])].join(' || ')}) || ${missing}`,
    `${git} checkout --quiet --detach "$at" 1>&2`,
  ];
}

/** Without a repository a fresh one is made, so that changes have something to be compared with. */
function emptyScript(workingDir: string, author: Author): string {
  return madeAside(workingDir, (aside) => [
    `git init --quiet ${aside} 1>&2`,
    identify(aside, author),
    // An empty repository needs no maintenance, which would be one more process.
    `git -C ${aside} -c maintenance.auto=false commit --quiet --allow-empty -m 'Start' 1>&2`,
  ]);
}

/** Each process slows down a start: the shell does itself what it can. */
function madeAside(workingDir: string, make: (aside: string) => readonly string[]): string {
  const dir = quoted(workingDir);
  const aside = quoted(`${workingDir}.clone`);
  return [
    `if [ ! -e ${dir} ]; then`,
    `  if [ -e ${aside} ]; then rm -rf ${aside}; fi`,
    ...make(aside).map((line) => `  ${line}`),
    `  mv ${aside} ${dir}`,
    'fi',
  ].join('\n');
}

/**
 * The author of commits is configured apart from any push credential (D19). Written to the file directly, because
 * `git config` would take two processes; characters that would end a value are escaped.
 */
function identify(aside: string, author: Author): string {
  return `printf '%s' ${quoted(userSection(author))} >> ${aside}/.git/config`;
}

/** For repositories that the agent makes itself. An existing file is the agent's, or another conversation's. */
function identifyElsewhere(author: Author): string {
  const file = '"$HOME"/.gitconfig';
  return `if [ -w "$HOME" ] && [ ! -e ${file} ]; then printf '%s' ${quoted(userSection(author))} > ${file}; fi`;
}

function userSection({ name, email }: Author): string {
  return `[user]\n\tname = ${configValue(name)}\n\temail = ${configValue(email)}\n`;
}

function configValue(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
  return `"${escaped}"`;
}
