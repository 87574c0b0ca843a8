// `npm run release-files`: everything that a release consists of, in `release/`; nothing is published. The packages, the chart, a
// bill of materials (CycloneDX), the licences, where it all comes from (an in-toto statement of SLSA provenance, for a release
// workflow to sign), what is new, the order in which the packages are published, and the digests of these files.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { say, tryOutput } from './lib/run.mjs';
import { publishOrder } from './lib/publish-order.mjs';
import { ROOT, ensureBuild, ensureDependencies, ensureHelm, ensureNode } from './lib/setup.mjs';

const CYCLONEDX = '@cyclonedx/cyclonedx-npm@6.0.1';
const OUT = join(ROOT, 'release');

await ensureDependencies();
const node = ensureNode();
await ensureBuild(node);
process.chdir(ROOT);
process.env.PATH = `${dirname(node)}:${process.env.PATH}`;
rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT);

const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));
const sha256 = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');

/** A command's output. @throws Error naming it when it fails */
function must(command, ...args) {
  const output = tryOutput(command, args);
  if (output === undefined) throw new Error(`${command} ${args[0]} failed`);
  return output;
}

must(
  'npm',
  'pack',
  '--ignore-scripts',
  '--workspaces',
  '--include-workspace-root',
  '--pack-destination',
  OUT,
);
must('npm', 'pack', '--ignore-scripts', './create-rollkeeper', '--pack-destination', OUT);
must(ensureHelm() ?? 'helm', 'package', join('helm', 'rollkeeper'), '--destination', join(OUT, 'chart'));
renameSync(join(OUT, 'chart', `${name}-${version}.tgz`), join(OUT, `${name}-chart-${version}.tgz`));
rmSync(join(OUT, 'chart'), { recursive: true });
const lists = ['--package-lock-only', '--omit', 'dev', '--output-reproducible', '--output-format', 'JSON'];
must('npx', '--yes', CYCLONEDX, ...lists, '--output-file', join(OUT, 'sbom.cdx.json'));
writeFileSync(join(OUT, 'LICENCES.txt'), must(node, join('scripts', 'licences.mjs')));
writeFileSync(join(OUT, 'NOTES.md'), newsOf(version));
const packages = publishOrder().map(({ file, name }) => `${name} ${file}\n`);
writeFileSync(join(OUT, 'packages.txt'), packages.join(''));
writeFileSync(join(OUT, 'provenance.intoto.json'), `${JSON.stringify(provenance(), undefined, 2)}\n`);
const sums = readdirSync(OUT).map((file) => `${sha256(join(OUT, file))}  ${file}\n`);
writeFileSync(join(OUT, 'SHA256SUMS'), sums.join(''));
say(`made ${readdirSync(OUT).join(', ')} in ${OUT}`);

/** The changelog's section of a version; of what is not released yet, when it has none. */
function newsOf(wanted) {
  const sections = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m);
  const section =
    sections.find((each) => each.startsWith(wanted)) ??
    sections.find((each) => each.startsWith('Unreleased'));
  return section?.slice(section.indexOf('\n') + 1).trim() ?? '';
}

/** https://slsa.dev/spec/v1.0/provenance, unsigned: who builds this signs it, or a statement of their own. */
function provenance() {
  const commit = must('git', 'rev-parse', 'HEAD').trim();
  const isClean = must('git', 'status', '--porcelain').trim() === '';
  const made = readdirSync(OUT).filter((file) => file.endsWith('.tgz'));
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: made.map((file) => ({ name: file, digest: { sha256: sha256(join(OUT, file)) } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'https://slsa-framework.github.io/github-actions-buildtypes/workflow/v1',
        externalParameters: { command: 'npm run release-files', version, uncommittedChanges: !isClean },
        internalParameters: { node: must(node, '--version').trim(), npm: must('npm', '--version').trim() },
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: commit } },
          { name: 'package-lock.json', digest: { sha256: sha256('package-lock.json') } },
        ],
      },
      runDetails: { builder: { id: process.env.GITHUB_WORKFLOW_REF ?? 'urn:rollkeeper:local-build' } },
    },
  };
}
