import { describe, expect, it } from 'vitest';
import { valueProblem } from '../compile-policy.js';
import { channelsOf } from './settings.js';

const NOTIFY = 'rollkeeper.dev/notify';

describe('the channels of a Deployment', () => {
  it('are those of its annotation, or else of its Namespace, each once', () => {
    expect(channelsOf({ [NOTIFY]: 'chat, on-call,chat' }, { [NOTIFY]: 'all' })).toEqual(['chat', 'on-call']);
    expect(channelsOf({}, { [NOTIFY]: 'all' })).toEqual(['all']);
    expect(channelsOf({ [NOTIFY]: '' }, { [NOTIFY]: 'all' })).toEqual([]);
    expect(channelsOf(undefined, undefined)).toEqual([]);
  });

  it.each(['Chat', 'a/b', 'chat,,x', '../x', 'a,b,c,d,e,f,g,h,i,j,k'])(
    'are none if the annotation is %s, which is a problem',
    (text) => {
      expect(valueProblem('notify', text)).toContain('is not a list of at most 10 names of Secrets');
      expect(channelsOf({ [NOTIFY]: text }, { [NOTIFY]: 'all' })).toEqual([]);
    },
  );
});
