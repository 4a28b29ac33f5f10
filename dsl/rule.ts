/**
 * One rule that a job or scenario file is held to.
 * Owns its shape; the lists are rule-catalogue.ts and scenario-rules.ts.
 */
export type Severity = 'error' | 'warning';

/** What a rule says of itself, in lists and in explanations. */
export interface Rule {
  readonly severity: Severity;
  /** A few words for lists. */
  readonly title: string;
  /** One or two sentences: when it is found, and why that is refused. */
  readonly explanation: string;
}

export const error = (title: string, explanation: string): Rule => ({
  severity: 'error',
  title,
  explanation,
});
export const warning = (title: string, explanation: string): Rule => ({
  severity: 'warning',
  title,
  explanation,
});
