// Sets up what the chosen tests need, and nothing else.
import {
  ensureBuild,
  ensureChromium,
  ensureHelm,
  ensureKubectl,
  ensureOldKubectl,
  ensureRedis,
} from './setup.mjs';
import { needsOf } from './test-suites.mjs';

/** Answers the environment by which the tests find it. */
export async function setUpFor(files, node) {
  const needs = needsOf(files);
  if (needs.has('redis')) ensureRedis();
  if (needs.has('kubectl')) ensureKubectl();
  if (needs.has('chromium')) ensureChromium();
  const oldKubectl = needs.has('oldKubectl') ? ensureOldKubectl() : undefined;
  const helm = needs.has('helm') ? ensureHelm() : undefined;
  if (needs.has('build')) await ensureBuild(node);
  return {
    ...(helm ? { ROLLKEEPER_HELM: helm } : {}),
    ...(oldKubectl ? { ROLLKEEPER_OLD_KUBECTL: oldKubectl } : {}),
  };
}
