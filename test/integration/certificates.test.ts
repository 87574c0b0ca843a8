import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';

const KUBECTL = process.env['KUBECTL'] ?? 'kubectl';
const APPROVERS = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: requestors }
rules:
  - { apiGroups: [certificates.k8s.io], resources: [certificatesigningrequests], verbs: [create, get] }
  - { apiGroups: [certificates.k8s.io], resources: [certificatesigningrequests/approval], verbs: [update] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: requestors }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: requestors }
subjects: [{ kind: User, name: eve, apiGroup: rbac.authorization.k8s.io }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: kubelets }
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: system:certificates.k8s.io:certificatesigningrequests:nodeclient
subjects: [{ kind: Group, name: system:masters, apiGroup: rbac.authorization.k8s.io }]
`;

describe('Certificates', { timeout: 60_000 }, () => {
  let cluster: TestCluster;
  let dir: string;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'rollkeeper-certificates-'));
    cluster = await startTestCluster({ manifests: [APPROVERS], nodes: 0 });
  });
  afterAll(async () => {
    await cluster.stop();
    rmSync(dir, { recursive: true });
  });

  /** The output of a program, errors behind the rest. */
  const run = (program: string, args: readonly string[]): Promise<string> =>
    new Promise((resolve) => {
      const env = { ...process.env, ...cluster.env, HOME: dir };
      execFile(program, args, { env, cwd: dir }, (_error, stdout, stderr) => resolve(stdout + stderr));
    });
  const kubectl = (...args: readonly string[]) => run(KUBECTL, args);

  /** A key, and a request for it that is applied. */
  async function ask(
    name: string,
    subject: string,
    spec: object,
    as: readonly string[] = [],
  ): Promise<string> {
    await run('openssl', [
      ...['req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
      ...['-subj', subject, '-keyout', `${name}.key`, '-out', `${name}.csr`],
    ]);
    const request = readFileSync(join(dir, `${name}.csr`)).toString('base64');
    const file = join(dir, `${name}.json`);
    const body = {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name },
      spec: { request, usages: ['client auth'], signerName: 'kubernetes.io/kube-apiserver-client', ...spec },
    };
    writeFileSync(file, JSON.stringify(body));
    return kubectl('create', '-f', file, ...as);
  }

  async function issued(name: string): Promise<X509Certificate> {
    const certificate = await expect
      .poll(() => kubectl('get', 'csr', name, '-o', 'jsonpath={.status.certificate}'), { timeout: 20_000 })
      .not.toBe('')
      .then(() => kubectl('get', 'csr', name, '-o', 'jsonpath={.status.certificate}'));
    const pem = Buffer.from(certificate, 'base64');
    writeFileSync(join(dir, `${name}.crt`), pem);
    return new X509Certificate(pem);
  }

  it('log in whom they name once somebody has approved them', async () => {
    expect(await ask('jane', '/O=dev/O=ops/CN=jane', { expirationSeconds: 3600 })).toContain('jane created');
    expect(await kubectl('get', 'csr', 'jane', '--no-headers')).toMatch(/admin +60m +Pending\n/);
    expect(await kubectl('certificate', 'approve', 'jane')).toContain('jane approved');
    const certificate = await issued('jane');
    expect(certificate.validToDate.getTime() - certificate.validFromDate.getTime()).toBe(65 * 60_000);
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    expect(certificate.ca).toBe(false);
    expect(await kubectl('get', 'csr', 'jane', '--no-headers')).toContain('Approved,Issued');
    writeFileSync(join(dir, 'ca.crt'), cluster.ca);
    const config = join(dir, 'jane.kubeconfig');
    writeFileSync(config, '');
    const login = [
      '--client-certificate=jane.crt',
      '--client-key=jane.key',
      '--certificate-authority=ca.crt',
    ];
    const whoami = await kubectl(
      ...[`--kubeconfig=${config}`, `--server=${cluster.url}`, ...login, 'auth', 'whoami'],
    );
    expect(whoami).toMatch(/Username +jane\n/);
    expect(whoami).toMatch(/Groups +\[dev ops system:authenticated\]/);
  });

  it('say who asked, whatever the request claims', async () => {
    await ask('claimed', '/CN=x', { username: 'somebody-else', groups: ['system:masters'] }, ['--as=eve']);
    expect(await kubectl('get', 'csr', 'claimed', '-o', 'jsonpath={.spec.username} {.spec.groups}')).toBe(
      'eve ["system:authenticated"]',
    );
  });

  it('are not signed when they are denied, or for usages that the signer does not know', async () => {
    await ask('denied', '/CN=d', {});
    expect(await kubectl('certificate', 'deny', 'denied')).toContain('denied denied');
    await ask('server', '/CN=s', { usages: ['server auth'] });
    await kubectl('certificate', 'approve', 'server');
    await expect
      .poll(() => kubectl('get', 'csr', 'server', '-o', 'jsonpath={.status.conditions[*].message}'))
      .toContain('invalid usage for client certificate: server auth');
    expect(await kubectl('get', 'csr', 'server', '--no-headers')).toContain('Approved,Failed');
    expect(await kubectl('get', 'csr', 'denied', '--no-headers')).toMatch(/Denied\n$/);
  });

  it('make nobody a master, and are approved by nobody without the right to', async () => {
    expect(await ask('master', '/O=system:masters/CN=m', {})).toContain(
      'use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
    );
    await ask('eves', '/CN=e', {}, ['--as=eve']);
    expect(await kubectl('certificate', 'approve', 'eves', '--as=eve')).toContain(
      'user not permitted to approve requests with signerName "kubernetes.io/kube-apiserver-client"',
    );
  });

  it('approve themselves for kubelets where whoever asks may have that', async () => {
    await ask('kubelet', '/O=system:nodes/CN=system:node:n1', {
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['digital signature', 'client auth'],
    });
    expect((await issued('kubelet')).subject).toContain('CN=system:node:n1');
    expect(await kubectl('get', 'csr', 'kubelet', '-o', 'jsonpath={.status.conditions[0].message}')).toBe(
      'Auto approving kubelet client certificate after SubjectAccessReview.',
    );
  });
});
