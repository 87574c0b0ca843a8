/** The answer of `POST /admin/sign-in`. */
export interface SignInCode {
  readonly code: string;
  /** RFC 3339. */
  readonly ends: string;
}

/**
 * The address that signs a browser in. The code is in the fragment, which browsers send to no server and write into no
 * `Referer`.
 */
export function signInLink(adminUrl: string, { code }: Pick<SignInCode, 'code'>): string {
  return `${new URL('/console', adminUrl).href}#sign-in=${code}`;
}
