import { describe, expect, it } from 'vitest';
import { describeLevel, namespacePolicyOf } from './namespace-policy.js';

const P = 'pod-security.kubernetes.io/';

function read(labels: Record<string, string>): string[] {
  const { audit, enforce, warn } = namespacePolicyOf(labels);
  return [enforce, audit, warn].map(describeLevel);
}

describe('namespacePolicyOf', () => {
  it.each([
    ['no labels', {}, ['privileged:latest', 'privileged:latest', 'privileged:latest']],
    ['other labels', { a: 'b' }, ['privileged:latest', 'privileged:latest', 'privileged:latest']],
    [
      'a level and its version',
      { [`${P}audit`]: 'baseline', [`${P}audit-version`]: 'v1.25' },
      ['privileged:latest', 'baseline:v1.25', 'privileged:latest'],
    ],
    [
      'warnings at the enforced level where nothing else is said of them',
      { [`${P}enforce`]: 'restricted', [`${P}enforce-version`]: 'v1.30' },
      ['restricted:v1.30', 'privileged:latest', 'restricted:v1.30'],
    ],
    [
      'warnings at the enforced level with a version of their own',
      { [`${P}enforce`]: 'restricted', [`${P}warn-version`]: 'v1.20' },
      ['restricted:latest', 'privileged:latest', 'restricted:v1.20'],
    ],
    [
      'no warnings where they are ruled out',
      { [`${P}enforce`]: 'baseline', [`${P}warn`]: 'privileged' },
      ['baseline:latest', 'privileged:latest', 'privileged:latest'],
    ],
    [
      'an unreadable level as the strictest, but for what does not refuse',
      { [`${P}enforce`]: 'x', [`${P}audit`]: 'x', [`${P}warn`]: 'x' },
      ['restricted:latest', 'privileged:latest', 'privileged:latest'],
    ],
  ])('reads %s', (_name, labels: Record<string, string>, expected) => {
    expect(read(labels)).toEqual(expected);
  });

  it('names each label that it cannot read', () => {
    const { problems } = namespacePolicyOf({ [`${P}enforce`]: 'x', [`${P}warn-version`]: 'v1.01' });
    expect(problems.map(({ field, message }) => `${field}: ${message}`)).toEqual([
      `metadata.labels[${P}enforce]: Invalid value: "x": must be one of privileged, baseline, restricted`,
      `metadata.labels[${P}warn-version]: Invalid value: "v1.01": must be "latest" or "v1.x"`,
    ]);
  });
});
