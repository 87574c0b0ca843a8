import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/opentelemetry/index.js';
import { AdminModule } from '../../src/rollkeeper/admin/server/admin.module.js';
import type { AdminServer } from '../../src/rollkeeper/admin/server/nest-admin-server.js';
import { startAdminServer } from '../../src/rollkeeper/admin/server/nest-admin-server.js';
import { anAdminPorts } from '../../src/rollkeeper/admin/server/admin-ports.fixture.js';
import { HealthRegistry } from '../../src/runtime/health/index.js';

const PUBLIC = join(import.meta.dirname, '..', '..', 'src', 'rollkeeper', 'admin', 'console', 'public');

describe('the files of the console', () => {
  let server: AdminServer;
  beforeAll(async () => {
    const ports = anAdminPorts();
    const options = { health: new HealthRegistry(), metrics: createMetrics(), status: ports.status, ports };
    server = await startAdminServer(AdminModule.forRoot(options), { host: '127.0.0.1', port: 0 });
  });
  afterAll(() => server.close());

  const statusOf = async (path: string): Promise<number> => (await fetch(server.url + path)).status;

  it.each(readdirSync(PUBLIC).filter((name) => name !== 'index.html'))('include %s', async (name) => {
    const answer = await fetch(`${server.url}/console/${name}`);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe(readFileSync(join(PUBLIC, name), 'utf8'));
  });

  it('include all that they name themselves', async () => {
    const texts = readdirSync(PUBLIC).map((name) => readFileSync(join(PUBLIC, name), 'utf8'));
    const named = texts.flatMap((text) => [...text.matchAll(/["'](\/console\/[\w./-]+)["']/g)]);
    const paths = new Set(named.map(([, path = '']) => path));
    expect(paths.size).toBeGreaterThan(30);
    for (const path of paths) expect(await statusOf(path), path).toBe(200);
  });

  it('are all asked for by the page itself, and not one after the other by each other', () => {
    const page = readFileSync(join(PUBLIC, 'index.html'), 'utf8');
    const scripts = readdirSync(PUBLIC).filter((name) => name.endsWith('.js') && name !== 'console.js');
    for (const name of scripts)
      expect(page).toContain(`<link rel="modulepreload" href="/console/${name}" />`);
    for (const name of readdirSync(PUBLIC).filter((each) => each.endsWith('.css')))
      expect(page).toContain(`<link rel="stylesheet" href="/console/${name}" />`);
  });

  it('are no others of the library that draws it', async () => {
    for (const path of [
      '/console/directives/unsafe-html.js',
      '/console/directives/..%2fpackage.json',
      '/console/directives/x',
    ])
      expect(await statusOf(path), path).toBe(404);
  });
});
