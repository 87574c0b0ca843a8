import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../../src/testing/wait-for.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { PolicyUp } from './support/policy-up.js';

/** Services on one port, a path each. */
class Services {
  readonly got: { readonly path: string; readonly title: string }[] = [];
  /** Paths that never answer. */
  readonly hung = new Set<string>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<Services> {
    const server = createServer();
    const services = new Services(server);
    server.on('request', (request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const { text: title } = JSON.parse(body) as { text: string };
        const { url: path = '' } = request;
        services.got.push({ path, title });
        if (!services.hung.has(path)) response.writeHead(200).end('ok');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return services;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  titles(path: string): readonly string[] {
    return this.got.filter((each) => each.path === path).map(({ title }) => title);
  }

  /** Waits until a path has this title. */
  hears(path: string, title: string): Promise<unknown> {
    const isThere = () => this.titles(path).includes(title);
    return waitFor(isThere, { what: `${path} to hear "${title}"`, timeoutMs: 60_000 });
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

describe.skipIf(!anyKubectl())('people hear of a rollout, with kubectl', () => {
  let services: Services;
  let lab: PolicyUp;

  beforeAll(async () => {
    services = await Services.start();
    // The account of the Deployment controller reads Secrets, where the replicas' own would have all rights.
    lab = await PolicyUp.start('--', '--use-service-account-credentials');
    for (const name of ['chat', 'slow']) {
      const data = [`service=slack`, `url=${services.url}/${name}`].map((each) => `--from-literal=${each}`);
      await lab.kubectl('create', 'secret', 'generic', name, ...data);
      await lab.kubectl('annotate', 'secret', name, 'rollkeeper.dev/check-hosts=127.0.0.1');
    }
    await lab.kubectl('create', 'deployment', 'web', '--image=web:1', '--replicas=4');
    await lab.kubectl('rollout', 'status', 'deployment/web', '--timeout=60s');
    const annotations = [
      'notify=chat, slow',
      'steps=1; approve; 100%',
      'on-failure=rollback',
      'fail-after=5s',
    ];
    await lab.kubectl(
      ...['annotate', 'deployment/web'],
      ...annotations.map((each) => `rollkeeper.dev/${each}`),
    );
  });

  afterAll(async () => {
    await lab.stop();
    await services.stop();
  });

  const setImage = (image: string) => lab.kubectl('set', 'image', 'deployment/web', `web=${image}`);

  it('is tried by one command, which says per channel what happened, and shows no secret', async () => {
    await lab.kubectl(
      'create',
      'secret',
      'generic',
      'broken',
      '--from-literal=service=slack',
      '--from-literal=url=http://127.0.0.1:1/very-secret',
    );
    await lab.kubectl('annotate', 'secret', 'broken', 'rollkeeper.dev/check-hosts=127.0.0.1');
    await lab.kubectl('create', 'deployment', 'other', '--image=web:1', '--replicas=0');
    await lab.kubectl('annotate', 'deployment/other', 'rollkeeper.dev/notify=chat,broken,missing');
    const { code, stderr, stdout } = await lab.rollkeeper(
      'notifications',
      'test',
      '--notification-hosts',
      '127.0.0.1',
      '-o',
      'json',
    );
    const results = JSON.parse(stdout) as { channel: string; usedBy: string[] }[];
    expect(results).toEqual([
      {
        channel: 'chat',
        usedBy: ['deployment/other', 'deployment/web'],
        result: 'sent',
        service: 'slack',
        status: 200,
      },
      {
        channel: 'broken',
        usedBy: ['deployment/other'],
        result: 'failed',
        service: 'slack',
        error: expect.any(String),
      },
      {
        channel: 'missing',
        usedBy: ['deployment/other'],
        result: 'failed',
        error: 'there is no Secret missing',
      },
      { channel: 'slow', usedBy: ['deployment/web'], result: 'sent', service: 'slack', status: 200 },
    ]);
    expect(code).toBe(3);
    expect(stdout + stderr).not.toContain('very-secret');
    expect(services.titles('/chat')).toContain('Test of channel chat in namespace default');
    const refused = await lab.rollkeeper('notifications', 'test', '--notification-hosts', 'example.com');
    expect(refused.stdout).toContain('is not one of the hosts that --notification-hosts allows');
    expect(refused.code).toBe(3);
    await lab.kubectl('delete', 'deployment', 'other');
    services.got.length = 0;
  });

  it('is told from its start to its end, and waits for no service', async () => {
    services.hung.add('/slow');
    await setImage('web:2');
    await services.hears('/chat', 'default/web waits for an approval');
    await lab.rollkeeper('promote', 'default/web', '--by', 'anna');
    await lab.sized({ 'web:2': 4 });
    await services.hears('/chat', 'default/web runs revision 2');
    expect(services.titles('/chat').slice(-3)).toEqual([
      'default/web rolls out revision 2',
      'default/web waits for an approval',
      'default/web runs revision 2',
    ]);
  });

  it('is told by the next leader where one dies, to a service that has not answered, and to no other again', async () => {
    const before = services.titles('/slow').length;
    await waitFor(() => services.titles('/slow').length > before, {
      what: 'a try that is not answered',
      timeoutMs: 60_000,
    });
    const heard = services.titles('/chat').length;
    await lab.killLeader();
    services.hung.clear();
    await services.hears('/slow', 'default/web runs revision 2');
    await setImage('web:3');
    await services.hears('/chat', 'default/web rolls out revision 3');
    expect(services.titles('/chat').slice(heard, heard + 1)).toEqual(['default/web rolls out revision 3']);
  });

  it('is told that it failed, and that it was rolled back', async () => {
    await services.hears('/chat', 'default/web waits for an approval');
    await lab.rollkeeper('abort', 'default/web');
    await services.hears('/chat', 'default/web was rolled back, and runs revision 4');
    const record = (await lab.replicaSets()).map(
      ({ metadata }) => metadata.annotations?.['rollkeeper.dev/told'],
    );
    expect(record.join()).toContain('notify/chat');
    expect(record.join()).not.toContain(services.url);
  });
});
