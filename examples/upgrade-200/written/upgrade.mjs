import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

for (const name of readdirSync('src')) {
  const file = `src/${name}`;
  const before = readFileSync(file, 'utf8');
  const after = before
    .replace('left-pad-2', 'left-pad-3')
    .replaceAll(/leftPad\((\w+), (\d+), ('.*?')\)/g, 'leftPad($1, { width: $2, fill: $3 })');
  writeFileSync(file, after);
}
