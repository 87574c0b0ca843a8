import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aDeployment } from '../../e2e/support/a-deployment.js';
import { Deployment } from '../../../src/machinery/kubernetes/index.js';
import { ChaosSet } from '../../chaos/set/chaos-set.js';
import { fuzzAdmin } from './admin-fuzz.js';
import { number, readFlags, seed as seedFlag, text, yes } from '../../support/flags.js';

// `npm run fuzz -- --admin`: the admin port of a replica that works.
const flags = readFlags('npm run fuzz -- --admin', {
  admin: yes('the admin port of a replica, in place of an API server'),
  seed: seedFlag(),
  requests: number('how many', 20_000),
  dist: text('the built program', join(import.meta.dirname, '..', '..', '..', 'dist')),
});
const { requests: count, seed } = flags;
console.log(`seed ${seed}, ${count} requests`);
const token = 'a-token-that-nobody-would-guess';
const folder = mkdtempSync(join(tmpdir(), 'rollkeeper-fuzz-admin-'));
const file = join(folder, 'token');
writeFileSync(file, token, { mode: 0o600 });
const set = await ChaosSet.start({
  ...{ dist: flags.dist, replicas: 1, random: Math.random, links: 'none' },
  controllerArgs: ['--admin-token-file', file],
});
try {
  await set.client.create(Deployment, aDeployment({ name: 'web', replicas: 2 }));
  const url = set.replicas[0]?.process.adminUrl ?? '';
  const { findings, statuses } = await fuzzAdmin({ url, token }, { seed, count });
  const counts = [...statuses]
    .sort(([one], [other]) => one - other)
    .map(([status, times]) => `${status}: ${times}`);
  console.log(`answers ${counts.join(', ')}`);
  for (const { problem, request } of findings.slice(0, 20))
    console.log(problem, JSON.stringify(request).slice(0, 2000));
  const [deaths] = set.replicas.map(({ process: replica }) => replica.deaths.length);
  console.log(`${findings.length} findings; the replica died ${deaths} times`);
  process.exitCode = findings.length > 0 || deaths !== 0 ? 1 : 0;
} finally {
  await set.stop();
  set.remove();
  rmSync(folder, { recursive: true });
}
