/**
 * The words of Gitea, and of Forgejo: those of GitHub, but for what is here.
 * Owns the routes and the bounds in which the two differ.
 */
import { z } from 'zod';
import { ParleyError } from '../../../core/parley-error.ts';
import { PAGE_ITEMS } from './api-limits.ts';
import { githubWords } from './github.ts';
import { listed, wholeNumber, type HostRepository, type HostWords } from './host-client.ts';

/** How many a page has at most is the server's to say. */
const pages = {
  endsEmpty: true,
  pageQuery: (page: number) => ({ limit: PAGE_ITEMS, page }),
};
const label = z.object({ id: wholeNumber, name: z.string() });

export function giteaWords(repository: HostRepository): HostWords {
  const words = githubWords(repository);
  const { at, pull } = words;
  return {
    ...words,
    ...pages,
    checksLabels: true,
    // The words can be set; these are those of every new server.
    draftPrefix: 'WIP: ',
    issueQuery: (state) => ({ type: 'issues', state }),
    commentQuery: null,
    draftBody: ({ isDraft: _, ...draft }) => draft,
    async pullRequests(ask, { head, base }) {
      const branches = `${encodeURIComponent(base)}/${head.split('/').map(encodeURIComponent).join('/')}`;
      try {
        return [await ask(`GET ${at}/pulls/${branches}`, pull)];
      } catch (error) {
        // It was seen that the repository is there: the branch it starts from was asked for.
        if (
          error instanceof ParleyError &&
          error.code === 'code_host_refused' &&
          / \(404/.test(error.message)
        )
          return [];
        throw error;
      }
    },
    async addLabels(ask, number, names) {
      const known = new Map<string, number>();
      const path = `${at}/labels`;
      for await (const { id, name } of listed(ask, pages, { path, entry: label, query: {} }))
        known.set(name, id);
      const labels = names.flatMap((name) => known.get(name) ?? []);
      if (labels.length > 0)
        await ask(`POST ${at}/issues/${number}/labels`, z.unknown(), { body: { labels } });
      return names
        .filter((name) => !known.has(name))
        .map((name) => `the repository has no label "${name}": make it there`);
    },
  };
}
