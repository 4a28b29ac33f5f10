/**
 * The deployment's configuration as an administrator sees and changes it while the service runs.
 * Owns the interface and the record of it; the outermost shell, which reads the file at the start, carries it out.
 */
import { z } from 'zod';

/** What the admin page shows as fields; each stands for one key of the file. */
const fieldsSchema = z
  .object({
    idle_time: z.number().meta({ description: 'Seconds; 0 for never.' }),
    deletion_time: z.number().meta({ description: 'Seconds; 0 for never.' }),
    forward_client_headers_to_llm_api: z.boolean(),
    llm_provider: z.string(),
    /** As written: references stay references. */
    custom_llm_extra_headers: z.record(z.string(), z.string()),
  })
  .meta({ id: 'DeploymentFields' });

export type ConfigurationFields = z.output<typeof fieldsSchema>;

/** Fields that are left out, or undefined, stay as they are. */
export type ConfigurationFieldsPatch = {
  readonly [Name in keyof ConfigurationFields]?: ConfigurationFields[Name] | undefined;
};

/** The configuration as it is now. */
export const configurationSchema = z
  .object({
    /** Absolute; the file need not exist yet. */
    path: z.string(),
    text: z.string(),
    /** Names this text: a change that rests on another one is refused. */
    revision: z.string(),
    fields: fieldsSchema,
    overridden: z.array(z.string()).meta({ description: 'Keys that a variable of the environment decides.' }),
    needs_restart: z.array(z.string()).meta({ description: 'Keys that hold after the next start only.' }),
    warnings: z.array(z.string()).meta({ description: 'Why the text, or a part of it, does not hold yet.' }),
  })
  .meta({ id: 'DeploymentConfiguration' });

export type ConfigurationState = z.output<typeof configurationSchema>;

/** As a mistake in a request is reported (D4): the place is the field, then line and column where they are known. */
export interface ConfigurationFinding {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

/** Another text, or other values of some fields. */
export type ConfigurationChange =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'fields'; readonly fields: ConfigurationFieldsPatch };

/** The result of a change. */
export type ConfigurationOutcome =
  | {
      readonly kind: 'deployed';
      readonly state: ConfigurationState;
      /** Keys that hold from now on. */
      readonly applied: readonly string[];
      /** What the check of the text says besides. */
      readonly warnings: readonly string[];
    }
  | { readonly kind: 'refused'; readonly findings: readonly ConfigurationFinding[] }
  /** The file was changed since it was read. */
  | { readonly kind: 'outdated' };

/** Reads and changes the configuration of the deployment that serves the API. */
export interface ConfigurationDesk {
  /** @throws ParleyError store_unavailable when the file cannot be read */
  state(): Promise<ConfigurationState>;
  /**
   * Checked as at the start, written whole or not at all, with the text before it kept beside it; then what can be
   * changed in a running service is. One change at a time.
   * @throws ParleyError store_unavailable when the file cannot be written
   */
  change(revision: string, change: ConfigurationChange): Promise<ConfigurationOutcome>;
}
