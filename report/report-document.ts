/**
 * A whole report as a document: which sections there are, and their order.
 * Pure; each section is a file of its own or shares one with its kin.
 */
import { agentSection, scoreSection, wholeSection } from './group-sections.ts';
import { deliverySection, lastStepSection } from './after-sections.ts';
import type { ReportDocument, Section } from './document.ts';
import { moneySection, reconciliationSection } from './money-section.ts';
import type { ReportData } from './report-data.ts';
import { sumSection } from './sum-section.ts';
import {
  evidenceSection,
  factSection,
  itemSection,
  outcomeSection,
  summarySection,
} from './work-sections.ts';

/** What a report says, before it is drawn as Markdown or a page. */
export function reportDocument(data: ReportData): ReportDocument {
  const sections = [
    summarySection(data),
    outcomeSection(data),
    wholeSection(data),
    agentSection(data),
    itemSection(data),
    scoreSection(data),
    evidenceSection(data),
    deliverySection(data),
    moneySection(data),
    reconciliationSection(data),
    lastStepSection(data),
    sumSection(data),
  ];
  return { title: `Run ${data.run.runId}`, sections: sections.filter(saysSomething) };
}

/** What a page has below its tiles, failures, table and charts, and above the footnote. */
export function otherSections(data: ReportData): readonly Section[] {
  const sections = [
    wholeSection(data),
    agentSection(data),
    scoreSection(data),
    deliverySection(data),
    moneySection(data),
    reconciliationSection(data),
    lastStepSection(data),
    factSection(data),
  ];
  return sections.filter(saysSomething);
}

function saysSomething({ blocks }: Section): boolean {
  return blocks.length > 0;
}
