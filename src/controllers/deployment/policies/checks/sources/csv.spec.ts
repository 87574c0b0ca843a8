import { describe, expect, it } from 'vitest';
import { parseCsv } from './csv.js';

describe('CSV', () => {
  it.each([
    [
      'a,b\r\nc,d\r\n',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['a,"b,""c""\nd"\n', [['a', 'b,"c"\nd']]],
    [
      'a,\n,b',
      [
        ['a', ''],
        ['', 'b'],
      ],
    ],
    ['a,', [['a', '']]],
    ['\n', [['']]],
    ['"a', [['a']]],
    ['', []],
  ])('%j is read', (text, rows) => {
    expect([...parseCsv(text)]).toEqual(rows);
  });
});
