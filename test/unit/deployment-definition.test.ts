import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { deploymentDefinition } from '../support/deployment-definition.js';

const FILE = new URL('../../helm/rollkeeper/definitions/deployments.rollkeeper.dev.yaml', import.meta.url);
/** The limit of all annotations of an object together; kubectl keeps in one what it applied. */
const MOST_ANNOTATIONS = 256 * 1024;

describe('the definition of deployments.rollkeeper.dev', () => {
  const text = readFileSync(FILE, 'utf8');

  it('is what the published schemas make of it (else run scripts/generate-crd.mjs)', () => {
    expect(parse(text)).toEqual(deploymentDefinition());
  });

  it('fits into the annotation that kubectl apply keeps', () => {
    expect(JSON.stringify(parse(text)).length).toBeLessThan(MOST_ANNOTATIONS);
  });
});
