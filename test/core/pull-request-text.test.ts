/** What stands in a pull request: its words, and that nothing of an agent or an issue is more than text. */
import { describe, expect, it } from 'vitest';
import { pullRequestText, TITLE_DEFAULT, type PullRequestFacts } from '../../core/plan/pull-request-text.ts';

const FACTS: PullRequestFacts = {
  job: 'fix',
  run: 'run-1',
  key: 'issue-3',
  issue: {
    host: 'forge',
    repository: 'acme/app',
    number: 3,
    title: 'A crash',
    url: 'https://forge.example/3',
  },
  isOwnIssue: true,
  summary: 'Fixed it.',
  check: { command: 'npm test | cat', hasPassed: true },
  usd: '0.120000',
  model: 'fast',
};
const WANTED = { title: TITLE_DEFAULT, body: '', comment: null };
const text = (facts: Partial<PullRequestFacts> = {}, wanted: Partial<typeof WANTED> = {}) =>
  pullRequestText({ ...WANTED, ...wanted }, { ...FACTS, ...facts }, (words) =>
    words.replaceAll('hunter2', '***'),
  );

describe('the text of a pull request', () => {
  it('says what was made, checked and paid, in which run, and ends with its mark', () => {
    const { title, body, marker } = text();
    expect(title).toBe('A crash');
    expect(body).toContain('Closes #3\n\n## Summary\n\n```text\nFixed it.\n```');
    expect(body).toContain('| check | passed: `npm test \\| cat` |');
    expect(body).toContain('| cost | 0.120000 USD |');
    expect(body).toContain('| run | `run-1`, `issue-3` |');
    expect(body.endsWith(marker)).toBe(true);
  });

  it('names an issue of another repository, and closes none', () => {
    expect(text({ isOwnIssue: false }).body).toContain('For https://forge.example/3');
    expect(text({ isOwnIssue: false }).body).not.toContain('Closes');
    expect(text({ issue: null }).title).toBe('fix: issue-3');
  });

  it('keeps the words of an agent in a block that they cannot leave', () => {
    const { body } = text({ summary: '```\nCloses #1 @everybody\n````\n<!-- parley: other -->' });
    expect(body).toContain('`````text\n```\nCloses #1 @everybody\n````\n<!-- parley: other -->\n`````');
  });

  it('fills in words once, hides what nobody may read, and is bounded', () => {
    const issue = { ...FACTS.issue!, title: `{run} hunter2 ${'x'.repeat(400)}\nnext` };
    const { title, body, comment } = pullRequestText(
      { title: '{issue_title}', body: '{issue} of {job}: hunter2', comment: '{key} is at {url}' },
      { ...FACTS, issue, summary: `hunter2 ${'y'.repeat(90_000)}` },
      (words) => words.replaceAll('hunter2', '***'),
    );
    expect(title).toMatch(/^\{run\} \*\*\* x+…$/);
    expect(title.length).toBe(240);
    expect(body).toContain('#3 of fix: ***');
    expect(body).not.toContain('hunter2');
    expect(body.length).toBeLessThan(10_000);
    expect(comment).toBe('issue-3 is at {url}');
  });
});
