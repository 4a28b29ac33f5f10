/**
 * The first files of a new project, as texts.
 * Owns the wording; a test compiles the job and loads the deployment.
 */

/** What belongs to this machine, relative to the project. */
export const DATA_FOLDER = '.parley';
/** Where `parley init` puts the schemas: beside the files, so that they are in a colleague's checkout. */
export const SCHEMA_FOLDER = 'schema';

export const JOB_SCHEMA_FILE = 'job.v1.json';
export const DEPLOYMENT_SCHEMA_FILE = 'deployment.v1.json';

/** Both spellings: editors agree on neither. */
function modelines(file: string): string {
  return `# yaml-language-server: $schema=./${SCHEMA_FOLDER}/${file}\n# $schema: ./${SCHEMA_FOLDER}/${file}\n`;
}

export const JOB_TEXT = `${modelines(JOB_SCHEMA_FILE)}# What to run: see docs/job-language.md, or "parley schema job KEY".
kind: job
version: 1
name: first-job

defaults:
  # A name that proxy_config in parley.yaml lists.
  model: coder
  limits: { turns: 60, usd: 1.00 }

conversations:
  - id: hello
    # repo: owner/name
    prompt: |
      Write a file hello.txt with one friendly sentence in it.
    # Success is what this command says, not what the agent says.
    verify: { command: test -s hello.txt, timeout: 1m }

admission: { concurrency: 2 }
collect: [trajectory, diff]
report:
  - { to: report.md }
`;

export const DEPLOYMENT_TEXT = `${modelines(DEPLOYMENT_SCHEMA_FILE)}# Where and how jobs run: see docs/configuration.md, or "parley config explain".
store: { path: .parley }
results: { path: out }
runtime: { kind: process, isolation: auto }

# The model gateway: any OpenAI-compatible server. Set the three variables; values never stand in this file.
proxy_config:
  model_list:
    - model_name: coder
      proxyvendor_params:
        model: os.environ/PARLEY_MODEL
        api_base: os.environ/PARLEY_GATEWAY_URL
        api_key: os.environ/PARLEY_GATEWAY_KEY
        # USD a token, for budgets, limits.usd and reports: correct them by the bill of your gateway. Without them the
        # public list price of the model counts, where there is one.
        input_cost_per_token: '0.000003'
        output_cost_per_token: '0.000015'
        cache_read_input_token_cost: '0.0000003'
        # The most that one call may be answered with: budgets hold it back before they let a call go.
        max_output_tokens: 64000
`;
