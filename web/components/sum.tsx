/**
 * One figure with its name, among others in a list of descriptions.
 * Owns its looks.
 */
import type { ReactElement, ReactNode } from 'react';

export function Sum({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ReactNode;
}): ReactElement {
  return (
    <div className="sum card">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
