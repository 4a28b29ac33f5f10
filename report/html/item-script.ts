/**
 * The one script of a report: columns that sort, a field that filters, and rows that open from a link.
 * Owns its text; without it every row is there, and opens.
 */
export const ITEM_SCRIPT = `
(() => {
  'use strict';
  const table = document.getElementById('items');
  if (table === null) return;
  const bodies = [...table.tBodies];
  table.classList.add('scripted');
  const collator = new Intl.Collator('en', { numeric: true });
  const valueOf = (body, at) => {
    const cell = body.rows[0].cells[at];
    return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
  };
  const compare = (a, b) => (typeof a === 'number' ? a - b : collator.compare(a, b));
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, at) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const isDown = head.getAttribute('aria-sort') === 'ascending';
      for (const other of heads) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', isDown ? 'descending' : 'ascending');
      const rows = bodies.map((body, index) => ({ body, index, value: valueOf(body, at) }));
      rows.sort((a, b) => (isDown ? -1 : 1) * compare(a.value, b.value) || a.index - b.index);
      table.append(...rows.map(({ body }) => body));
    });
  });
  const field = document.getElementById('items-filter');
  const count = document.getElementById('items-count');
  field.parentElement.hidden = false;
  field.addEventListener('input', () => {
    const words = field.value.toLowerCase().split(' ').filter((word) => word !== '');
    let shown = 0;
    for (const body of bodies) {
      const text = body.rows[0].textContent.toLowerCase();
      body.hidden = !words.every((word) => text.includes(word));
      if (!body.hidden) shown += 1;
    }
    count.textContent = words.length === 0 ? '' : shown + ' of ' + bodies.length;
  });
  const openTarget = () => {
    const body = document.getElementById(location.hash.slice(1));
    if (body === null || body.parentElement !== table) return;
    body.hidden = false;
    body.querySelector('details').open = true;
    body.scrollIntoView();
  };
  addEventListener('hashchange', openTarget);
  openTarget();
})();
`;
