/**
 * An address that is no page.
 * Owns the sentence and the way on.
 */
import type { ReactElement } from 'react';
import { PageHead } from '../components/page-head.tsx';
import { Link } from '../routing/link.tsx';

export function MissingPage(): ReactElement {
  return (
    <>
      <PageHead title="Nothing here">This address is no page of the console.</PageHead>
      <p>
        <Link to={{ page: 'conversations' }}>Go to the conversations</Link>
      </p>
    </>
  );
}
