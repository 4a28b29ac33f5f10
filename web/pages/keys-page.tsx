/**
 * Keys: those of the API, and for administrators those of the model proxy.
 * Owns the page; each list asks for itself.
 */
import type { ReactElement } from 'react';
import { ApiKeysSection } from '../access/api-keys-section.tsx';
import { ProxyKeysSection } from '../access/proxy-keys-section.tsx';
import { PageHead } from '../components/page-head.tsx';
import { useSession } from '../session/session.ts';

export function KeysPage(): ReactElement {
  const { user } = useSession();
  return (
    <>
      <PageHead title="Keys">Who may call the API, and who the model proxy.</PageHead>
      <ApiKeysSection />
      {user.role === 'admin' ? <ProxyKeysSection /> : null}
    </>
  );
}
