import { describe, expect, it } from 'vitest';
import { capAt, shareAt } from './step-shares.js';
import { parseSteps, renderStep, type Step } from './steps.js';

function read(text: string): readonly Step[] {
  const parsed = parseSteps(text);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return parsed.steps;
}

describe('steps that say which requests the new version gets', () => {
  it('are read as they are written', () => {
    const text = 'header X-Canary=a = b; header off; cookie who=a=b; cookie off; mirror 10%; weight 5%';
    expect(read(text).map(renderStep).join('; ')).toBe(text);
  });

  it.each([
    'header x-canary',
    'header =always',
    'header x canary=always',
    'header x-canary=',
    'header x-canary=\u00e4',
    'header x-canary=a\nb',
    'cookie who=a b',
    'cookie who="a"',
    'cookie who=a,b',
    'cookie',
    'mirror 101%',
    'mirror 10',
  ])('are refused as %j', (text) => {
    expect(parseSteps(text)).toMatchObject({ problem: expect.stringContaining('is neither') });
  });

  it('count until the next one of their kind, and after the last step the version has all requests', () => {
    const steps = read('header a=b; mirror 10%; weight 5%; cookie c=d; header off; mirror 0%');
    expect(shareAt(steps, 3)).toEqual({
      ...{ percent: 5, mirror: 10 },
      ...{ header: { name: 'a', value: 'b' }, cookie: { name: 'c', value: 'd' } },
    });
    expect(shareAt(steps, 5)).toEqual({ percent: 5, mirror: 0, cookie: { name: 'c', value: 'd' } });
    expect(shareAt(steps, 6)).toEqual({ percent: 100 });
  });

  it('need pods for the larger of both shares, one for requests with a header, and what a size says before', () => {
    const steps = read('header a=b; mirror 30%; weight 50%; 2; weight 70%; header off');
    expect(steps.map((_step, done) => capAt(steps, done, 10))).toEqual([1, 3, 5, 2, 2, 2]);
    expect(capAt(read('header off; weight 1%'), 0, 10)).toBe(0);
  });
});
