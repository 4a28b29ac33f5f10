/**
 * The one script of a report: columns that sort, a field that filters, rows that open from a link, and
 * the first thousand of a long table until the reader clicks "Show all": a browser lays out that many quickly.
 * Owns its text; without it every row is there, and can be opened.
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
      order = rows.map(({ body }) => body);
      table.append(...order);
      show();
    });
  });
  const field = document.getElementById('items-filter');
  const count = document.getElementById('items-count');
  const all = document.getElementById('items-all');
  let order = bodies;
  let most = 1000;
  const show = () => {
    const words = field.value.toLowerCase().split(' ').filter((word) => word !== '');
    let found = 0;
    for (const body of order) {
      const text = words.length === 0 ? '' : body.rows[0].textContent.toLowerCase();
      body.hidden = !words.every((word) => text.includes(word));
      if (!body.hidden) found += 1;
      body.classList.toggle('later', found > most);
    }
    all.hidden = found <= most;
    const seen = found > most ? 'the first ' + most + ' of ' + found : found + ' of ' + bodies.length;
    count.textContent = words.length === 0 && found <= most ? '' : seen;
  };
  field.parentElement.hidden = false;
  field.addEventListener('input', show);
  all.addEventListener('click', () => {
    most = Infinity;
    show();
  });
  show();
  const openTarget = () => {
    const body = document.getElementById(location.hash.slice(1));
    if (body === null || body.parentElement !== table) return;
    body.hidden = false;
    body.classList.remove('later');
    body.querySelector('details').open = true;
    body.scrollIntoView();
  };
  addEventListener('hashchange', openTarget);
  openTarget();
})();
`;
