// What to do about an API server whose certificate is not accepted, by the code of the refusal: whose certificate it is,
// and which field of the kubeconfig says what is accepted. Refuses: naming a host, a path or an authority.

import { unknownAuthorityCodes } from '../../runtime/http/authorities.ts';

const adviceByCode: ReadonlyMap<string, string> = new Map([
  [
    'CERT_HAS_EXPIRED',
    "the API server's certificate, or its authority's, is over; renew it there, or set the clock here",
  ],
  [
    'CERT_NOT_YET_VALID',
    "the API server's certificate is not valid yet; compare its clock with the one here",
  ],
  [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    "the API server's certificate is made out to other names; use one of them as the server, or name it in tls-server-name of the kubeconfig",
  ],
]);

/** Words that go on after the code; `undefined` where it does not speak of a certificate. */
export function adviceOn(code: string): string | undefined {
  if (!unknownAuthorityCodes.has(code)) return adviceByCode.get(code);
  return "the API server's certificate is of another authority than certificate-authority of the kubeconfig says: put its authority's certificate there; in a pod the authority comes from --root-ca-file of kube-controller-manager, by way of the ConfigMap kube-root-ca.crt";
}
