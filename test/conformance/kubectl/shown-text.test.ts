import { expect, it } from 'vitest';
import { shownText } from './shown-text.js';

const HEADER = 'Type        Resource  Min  Max  Default Request  Default Limit  Max Limit/Request Ratio';
const CPU = 'Container   cpu       10m  1    100m             200m           4';
const MEMORY = 'Container   memory    -    -    1Mi              -              -';
const POD = 'Pod         cpu       -    2    -                -              -';

it('takes the limits of a type in any order, since kubectl prints them in another one each time', () => {
  const one = shownText([HEADER, CPU, MEMORY, POD].join('\n'));
  expect(shownText([HEADER, MEMORY, CPU, POD].join('\n'))).toEqual(one);
  expect(shownText([HEADER, POD, CPU, MEMORY].join('\n'))).not.toEqual(one);
});

it('keeps the order of lines that have no generated names', () => {
  expect(shownText('b\na')).toEqual(['b', 'a']);
  expect(shownText('web-bcdfg  1/1\nweb-2  1/1')).toEqual(['web-RANDOM  1/1', 'web-2  1/1']);
});
