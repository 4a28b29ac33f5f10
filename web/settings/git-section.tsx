/**
 * The author of commits, apart from any credential (D19).
 * Owns the two fields; saving is the page's.
 */
import type { ReactElement } from 'react';
import { Field } from '../components/field.tsx';

export interface GitAuthor {
  readonly git_user_name: string;
  readonly git_user_email: string;
}

export interface GitSectionProps {
  readonly value: GitAuthor;
  onChange(change: Partial<GitAuthor>): void;
}

export function GitSection({ value, onChange }: GitSectionProps): ReactElement {
  return (
    <section className="card stack" aria-labelledby="git">
      <h2 id="git">Git</h2>
      <div className="columns">
        <Field label="Git Author Name">
          {(ids) => (
            <input
              {...ids}
              required
              value={value.git_user_name}
              onChange={(event) => onChange({ git_user_name: event.target.value })}
            />
          )}
        </Field>
        <Field label="Git Author Email">
          {(ids) => (
            <input
              {...ids}
              type="email"
              required
              value={value.git_user_email}
              onChange={(event) => onChange({ git_user_email: event.target.value })}
            />
          )}
        </Field>
      </div>
    </section>
  );
}
