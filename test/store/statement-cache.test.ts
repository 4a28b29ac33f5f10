/** Prepared statements are kept, and not for ever. */
import Database from 'libsql';
import { describe, expect, it } from 'vitest';
import { statementCache } from '../../store/sql/sqlite.ts';

describe('statementCache()', () => {
  it('answers from what it knows, and works again after a failure', () => {
    const cached = statementCache(new Database(':memory:'));
    cached.prepare('create table t (a integer primary key)').run([]);
    const insert = cached.prepare('insert into t values (?)');
    expect(cached.prepare('insert into t values (?)')).toBe(insert);
    insert.run([1]);
    expect(() => insert.run([1])).toThrow('UNIQUE');
    insert.run([2]);
    expect(cached.prepare('select count(*) as n from t').all([])).toEqual([{ n: 2 }]);
    cached.close();
  });

  it('forgets the least recently used', () => {
    const cached = statementCache(new Database(':memory:'));
    const kept = cached.prepare('select 1');
    const old = cached.prepare('select 2');
    for (let index = 0; index < 500; index += 1) {
      cached.prepare(`select ${index} as n`);
      cached.prepare('select 1');
    }
    expect(cached.prepare('select 1')).toBe(kept);
    expect(cached.prepare('select 2')).not.toBe(old);
    cached.close();
  });
});
