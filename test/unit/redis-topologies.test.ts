import { describe, expect, it } from 'vitest';
import { hasOneView } from '../support/redis-topologies.js';

const A = 'aa 127.0.0.1:7001@17001 myself,master - 0 0 1 connected 0-5460';
const B = 'bb 127.0.0.1:7002@17002 master - 0 1700000000000 2 connected 5461-10922';
const REPLICA = 'cc 127.0.0.1:7003@17003 slave aa 0 1700000000000 1 connected';
const asSeenByB = (line: string): string => line.replace('myself,', '');

describe('the nodes of a Cluster agree', () => {
  it('when all of them name the same owners of slots, with the same epochs', () => {
    expect(hasOneView([[A, B, REPLICA].join('\n'), [REPLICA, B, asSeenByB(A)].join('\n')])).toBe(true);
  });

  it('not while one knows an older epoch of an owner', () => {
    expect(hasOneView([A, asSeenByB(A).replace(' 1 connected', ' 0 connected')])).toBe(false);
  });

  it('not while two owners have one epoch, which is about to change', () => {
    expect(hasOneView([[A, B.replace(' 2 connected', ' 1 connected')].join('\n')])).toBe(false);
  });

  it('not while one names other slots, or answers nothing', () => {
    expect(hasOneView([A, asSeenByB(A).replace('0-5460', '0-100')])).toBe(false);
    expect(hasOneView([A, ''])).toBe(false);
    expect(hasOneView([''])).toBe(false);
  });
});
