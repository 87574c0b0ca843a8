import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';
import type { CertificateSigningRequest } from '@rollkeeper/machinery/types/certificates-v1';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { readCertificateRequest } from '@rollkeeper/tls';
import { refused } from '../attributes.js';
import type { Attributes } from '../attributes.js';
import type { NodeRequest } from './node-request.js';

const SIGNERS = ['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet'];

/** A kubelet asks for certificates of its own node alone. @throws StatusError 403 */
export function checkCertificateOfNode({ attributes, node }: NodeRequest): void {
  if (attributes.operation !== 'CREATE') return;
  const { spec }: Partial<DecodedObject<CertificateSigningRequest>> = attributes.object ?? {};
  const { request = '', signerName = '' } = spec ?? {};
  if (!SIGNERS.includes(signerName) || commonNameOf(request, attributes) === `system:node:${node}`) return;
  throw refused(attributes, `can only create a node CSR with CN=system:node:${node}`);
}

function commonNameOf(request: string, attributes: Attributes): string {
  try {
    return readCertificateRequest(Buffer.from(request, 'base64').toString()).commonName;
  } catch (error) {
    throw refused(attributes, `unable to parse csr: ${errorMessage(error)}`);
  }
}
