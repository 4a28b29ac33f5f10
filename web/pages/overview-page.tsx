/**
 * The installation as a whole: trouble first, then capacity and who waits, spend, budgets.
 * Owns the order; each part asks for itself, so that one which fails hides no other.
 */
import type { ReactElement } from 'react';
import { PageHead } from '../components/page-head.tsx';
import { BudgetsSection } from '../overview/budgets-section.tsx';
import { CapacitySection } from '../overview/capacity-section.tsx';
import { SpendSection } from '../overview/spend-section.tsx';
import { TroubleSection } from '../overview/trouble-section.tsx';
import { useSession } from '../session/session.ts';

export function OverviewPage(): ReactElement {
  const { user } = useSession();
  const isAdmin = user.role === 'admin';
  return (
    <>
      <PageHead title="Overview">
        {isAdmin ? 'The installation at this moment, for all users.' : 'What is yours at this moment.'}
      </PageHead>
      <TroubleSection />
      <CapacitySection />
      <SpendSection />
      <BudgetsSection isAdmin={isAdmin} />
    </>
  );
}
