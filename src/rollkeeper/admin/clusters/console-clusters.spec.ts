import { describe, expect, it } from 'vitest';
import { parseConsoleClusters } from './console-clusters.js';

const parse = (list: string | undefined) => parseConsoleClusters(list, 'console-clusters');

describe('the list of clusters', () => {
  it('has a name and the console of each', () => {
    expect(parse('eu=https://eu.example.com/console, us-1=http://127.0.0.1:8080/')).toEqual([
      { name: 'eu', url: 'https://eu.example.com' },
      { name: 'us-1', url: 'http://127.0.0.1:8080' },
    ]);
    for (const none of [undefined, '', ' , ']) expect(parse(none)).toEqual([]);
  });

  it.each([
    'https://eu.example.com',
    'eu',
    'eu=',
    'eu=eu.example.com',
    'eu=ftp://eu.example.com',
    'eu=javascript:alert(1)',
    'eu=https://me:secret@eu.example.com',
    'eu=https://eu.example.com/rollkeeper',
    'eu=https://eu.example.com?a=b',
    '=https://eu.example.com',
    'e u=https://eu.example.com',
    'eu/../us=https://eu.example.com',
    'eu=https://eu.example.com,eu=https://us.example.com',
    'eu=https://eu.example.com,us=https://eu.example.com/',
    Array.from({ length: 31 }, (_, index) => `c${index}=https://c${index}.example.com`).join(','),
  ])('is refused by the name of the option: %s', (list) => {
    expect(() => parse(list)).toThrow('console-clusters');
  });
});
