import { randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, errors, exportJWK, jwtVerify, SignJWT } from 'jose';
import type { JWK, JWTPayload } from 'jose';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { Storage } from '../../storage/index.js';
import type { SigningKey } from './signing-key.js';
import { AUTHENTICATED, groupsOfAccount, usernameOfAccount } from './user-info.js';
import type { UserInfo } from './user-info.js';

/** The issuer of the tokens, and the audience of the API itself. */
export const ISSUER = 'https://kubernetes.default.svc.cluster.local';
/** How long tokens bound to an object stay valid after its deletion time. */
const DELETION_LEEWAY_MS = 60_000;
/** Limit of the remembered tokens whose signature has been checked. */
const MAX_REMEMBERED = 1000;
const ALGORITHM = 'ES256';

interface ObjectName {
  readonly name: string;
  readonly uid: string;
}

/** The claims of a token beyond the standard ones, as a genuine server's. */
interface PrivateClaims {
  readonly namespace: string;
  readonly serviceaccount: ObjectName;
  readonly pod?: ObjectName;
  readonly secret?: ObjectName;
  readonly node?: ObjectName;
}

type Claims = JWTPayload & { readonly 'kubernetes.io': PrivateClaims };

/** The object that a token is bound to: it ends with the object. */
export interface BoundObject {
  readonly kind: 'pod' | 'secret' | 'node';
  readonly object: KubernetesObject;
  /** The node of a pod. */
  readonly node?: KubernetesObject;
}

export interface TokenToIssue {
  readonly account: KubernetesObject;
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  readonly bound?: BoundObject;
}

export interface AuthenticatedToken {
  readonly user: UserInfo;
  /** For whom it is good, among those asked about. */
  readonly audiences: readonly string[];
}

/**
 * The tokens of service accounts: JSON Web Tokens (RFC 7519). A token is valid until it expires, or until its account, or the
 * object that it is bound to, is deleted or replaced. Source: pkg/serviceaccount/claims.go.
 */
export class ServiceAccountTokens {
  private readonly remembered = new Map<string, Claims>();
  private jwk: Promise<JWK> | undefined;

  constructor(
    private readonly key: SigningKey,
    private readonly storage: Pick<Storage, 'get'>,
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  async issue({ account, audiences, bound, expirationSeconds }: TokenToIssue): Promise<{
    readonly token: string;
    readonly expiresAtMs: number;
  }> {
    const seconds = Math.floor(this.clock.now() / 1000);
    const { name, namespace = '' } = account.metadata;
    const claims: PrivateClaims = {
      namespace,
      ...(bound && { [bound.kind]: nameOf(bound.object) }),
      ...(bound?.node && { node: nameOf(bound.node) }),
      serviceaccount: nameOf(account),
    };
    const { kid } = await this.publicJwk();
    const token = await new SignJWT({ 'kubernetes.io': claims })
      .setProtectedHeader({ alg: ALGORITHM, kid })
      .setIssuer(ISSUER)
      .setAudience([...audiences])
      .setSubject(usernameOfAccount({ namespace, name }))
      .setJti(randomUUID())
      .setIssuedAt(seconds)
      .setNotBefore(seconds)
      .setExpirationTime(seconds + expirationSeconds)
      .sign(this.key.privateKey);
    return { token, expiresAtMs: (seconds + expirationSeconds) * 1000 };
  }

  /**
   * The user of a token.
   * @param audiences it has to be for one of these
   * @returns undefined for one that is not, or no more, good
   */
  async authenticate(token: string, audiences: readonly string[]): Promise<AuthenticatedToken | undefined> {
    const claims = await this.verified(token);
    if (!claims) return undefined;
    const seconds = this.clock.now() / 1000;
    if (seconds >= (claims.exp ?? 0) || seconds < (claims.nbf ?? 0)) return undefined;
    const common = [claims.aud ?? []].flat().filter((audience) => audiences.includes(audience));
    if (common.length === 0) return undefined;
    const own = claims['kubernetes.io'];
    return (await this.areThere(own)) ? { user: userOf(claims, own), audiences: common } : undefined;
  }

  /** The keys that check tokens, for `/openid/v1/jwks`. */
  async publicKeys(): Promise<{ readonly keys: readonly JWK[] }> {
    return { keys: [await this.publicJwk()] };
  }

  private publicJwk(): Promise<JWK> {
    this.jwk ??= exportJWK(this.key.publicKey).then(async (jwk) => ({
      ...jwk,
      use: 'sig',
      alg: ALGORITHM,
      kid: await calculateJwkThumbprint(jwk),
    }));
    return this.jwk;
  }

  /** Reads a token with our signature. Whether its time has come, or is over, is not looked at. */
  private async verified(token: string): Promise<Claims | undefined> {
    const known = this.remembered.get(token);
    if (known) return known;
    try {
      const options = {
        issuer: ISSUER,
        algorithms: [ALGORITHM],
        clockTolerance: Number.MAX_SAFE_INTEGER,
        currentDate: new Date(this.clock.now()),
      };
      const { payload } = await jwtVerify(token, this.key.publicKey, options);
      const claims = payload as Claims;
      if (this.remembered.size >= MAX_REMEMBERED) this.remembered.clear();
      this.remembered.set(token, claims);
      return claims;
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }

  private async areThere({ namespace, node, pod, secret, serviceaccount }: PrivateClaims): Promise<boolean> {
    // The node of a pod may go and come: the pod alone decides.
    const bound = pod
      ? this.isThere('pods', namespace, pod)
      : secret
        ? this.isThere('secrets', namespace, secret)
        : !node || this.isThere('nodes', '', node);
    const found = await Promise.all([this.isThere('serviceaccounts', namespace, serviceaccount), bound]);
    return found.every(Boolean);
  }

  private async isThere(resource: string, namespace: string, { name, uid }: ObjectName): Promise<boolean> {
    const { metadata } = (await this.storage.get({ resource, namespace, name }))?.object ?? {};
    if (metadata?.uid !== uid) return false;
    if (metadata.deletionTimestamp === undefined) return true;
    return Date.parse(metadata.deletionTimestamp) + DELETION_LEEWAY_MS > this.clock.now();
  }
}

function nameOf({ metadata: { name, uid = '' } }: KubernetesObject): ObjectName {
  return { name, uid };
}

function userOf({ jti }: Claims, { namespace, node, pod, serviceaccount }: PrivateClaims): UserInfo {
  const extra = Object.entries({
    'credential-id': jti === undefined ? undefined : `JTI=${jti}`,
    'node-name': node?.name,
    'node-uid': node?.uid,
    'pod-name': pod?.name,
    'pod-uid': pod?.uid,
  }).flatMap(([key, value]): [string, string[]][] =>
    value === undefined ? [] : [[`authentication.kubernetes.io/${key}`, [value]]],
  );
  return {
    username: usernameOfAccount({ namespace, name: serviceaccount.name }),
    uid: serviceaccount.uid,
    groups: [...groupsOfAccount({ namespace }), AUTHENTICATED],
    extra: Object.fromEntries(extra),
  };
}
