import { describe, expect, it } from 'vitest';
import { compileUpOptions } from './up.options.js';

describe('the options of up', () => {
  it('have a default each', () => {
    expect(compileUpOptions({})).toMatchObject({
      replicas: 3,
      nodes: 3,
      'data-dir': '.rollkeeper',
      port: 16443,
    });
  });

  it('take numbers as they are typed', () => {
    expect(compileUpOptions({ replicas: '5', nodes: '0', port: '0' })).toMatchObject({
      replicas: 5,
      nodes: 0,
      port: 0,
    });
  });

  it.each([
    { wrong: { replicas: '0' }, says: 'replicas: must be at least 1' },
    { wrong: { replicas: '1.5' }, says: 'replicas: is not a whole number' },
    { wrong: { nodes: 'many' }, says: 'nodes: is not a number' },
    { wrong: { port: '-1' }, says: 'port: must be at least 0' },
    { wrong: { 'data-dir': '' }, says: 'data-dir: must name a folder' },
  ])('are refused by name: $says', ({ wrong, says }) => {
    expect(() => compileUpOptions(wrong)).toThrow(says);
  });
});
