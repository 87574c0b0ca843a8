import { describe, expect, it } from 'vitest';
import { digestOfOptions } from './cluster-view.js';

describe('the digest of a replica’s options', () => {
  const options = { workers: { deployment: 5 }, zones: false };

  it('is the same for another replica with the same options, in any order', () => {
    const one = digestOfOptions({ identity: 'a', 'admin-port': 1, 'admin-host': '10.0.0.1', ...options });
    expect(digestOfOptions({ ...options, 'admin-port': 2, identity: 'b', context: undefined })).toBe(one);
  });

  it('is another one where an option differs', () => {
    expect(digestOfOptions({ ...options, zones: true })).not.toBe(digestOfOptions(options));
  });
});
