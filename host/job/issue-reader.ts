/**
 * Issues for a plan that is being made, from the code hosts of the deployment.
 * Owns whose credential asks; what an answer is good for is the compiler's business.
 */
import { asParleyError } from '../../core/parley-error.ts';
import type { AskedIssues, IssuesRead } from '../../dsl/world.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { openSecretLook } from '../secret-look.ts';
import { codeHostApiOf } from '../wired-world.ts';

export interface IssueReaderOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Told of every longer wait. */
  say(words: string): void;
}

/** What keeps issues from being read is an answer, too. */
export async function readIssuesOf(
  config: DeploymentConfig,
  asked: AskedIssues,
  { env, say }: IssueReaderOptions,
): Promise<IssuesRead> {
  const { job: _job, entry: _entry, token: reference, ...query } = asked;
  const secrets = openSecretLook(config, env);
  try {
    const token = reference === null ? null : await secrets.resolve(reference);
    if (reference !== null && token === null)
      return {
        problem: `the issues of "${query.repository}" cannot be read: their secret is not where the job says`,
        remedy: 'put it there, or leave out "token" to use that of the code host',
      };
    const rows = await codeHostApiOf(config).issues({ ...query, token, onWait: say });
    return { rows, doneCount: 0 };
  } catch (error) {
    const { message, remedy } = asParleyError(error);
    return { problem: message, remedy };
  } finally {
    await secrets.close();
  }
}
