/**
 * What the API answers about a report, by the parts that are drawn.
 * Owns the names; the shapes are the API's.
 */
import type { ResultOf } from '../../api/client/client.ts';

export type Report = ResultOf<'get_run_report'>;
export type ReportFigure = Report['figures'][number];
export type ReportShape = ReportFigure['shapes'][number];
export type ReportSection = Report['footnote'];
export type ReportBlock = ReportSection['blocks'][number];
