import { getAddress } from "viem";
import { scopes, UNLIMITED_WINDOW } from "../../access/index.ts";
import type { ConsoleConfig } from "../../config/index.ts";
import { ApiError } from "../../lib/errors.ts";
import { dataResponse } from "../../lib/http.ts";
import type { AccountService } from "../accounts.ts";
import { accountView } from "../accountView.ts";
import { readConsoleBody } from "../body.ts";
import type { Call, Endpoint, Identity } from "../endpoint.ts";
import { ChallengeSchema, OperatorSignInSchema, WalletSignInSchema } from "../model.ts";
import type { BoundsView, SessionView } from "../views.ts";
import { type Attempts, callerSubject } from "./attempts.ts";
import { readSessionCookie, sessionCookie } from "./cookie.ts";
import { signInOrigin } from "./origin.ts";
import type { Sessions } from "./sessions.ts";
import type { WalletSignIn } from "./wallet.ts";

export interface SessionEndpointOptions {
  readonly config: ConsoleConfig;
  readonly defaultWindowLimit: number;
  readonly sessions: Sessions;
  readonly wallets: WalletSignIn;
  readonly attempts: Attempts;
  readonly accounts: AccountService;
  readonly isAdminToken: (presented: string) => Promise<boolean>;
}

/** Signing in and out, and who is signed in. */
export function sessionEndpoints(options: SessionEndpointOptions): readonly Endpoint[] {
  const { config, sessions, wallets, attempts, accounts } = options;

  const boundsOf = (identity: Identity): BoundsView => {
    const { defaultWindowLimit } = options;
    const environments = ["test", "live"] as const;
    if (identity.role === "operator") {
      const unbounded = { maxKeys: null, maxWindowLimit: UNLIMITED_WINDOW };
      return { scopes, environments, ...unbounded, defaultWindowLimit };
    }
    return { ...accounts.boundsOf(identity.account), environments, defaultWindowLimit };
  };
  const view = (identity: Identity, expiresAt: number): SessionView => ({
    signUp: config.signUp,
    role: identity.role,
    ...(identity.role === "developer" && { account: accountView(identity.account) }),
    bounds: boundsOf(identity),
    expiresAt,
  });
  const signedIn = async (call: Call, identity: Identity): Promise<Response> => {
    const earlier = readSessionCookie(call.request, call.isHttps);
    if (earlier !== undefined) await sessions.end(earlier);
    const cookie = await sessions.open(identity);
    const session = await sessions.find(cookie);
    if (!session) throw new ApiError("SIGN_IN_FAILED");
    const answer = dataResponse(view(identity, session.expiresAt));
    const maxAgeSeconds = Math.floor(config.sessionMs / 1000);
    answer.headers.set("set-cookie", sessionCookie(cookie, maxAgeSeconds, call.isHttps));
    return answer;
  };

  return [
    {
      method: "GET",
      path: "/session",
      access: "anyone",
      async answer({ request, isHttps }) {
        const cookie = readSessionCookie(request, isHttps);
        const session = cookie === undefined ? undefined : await sessions.find(cookie);
        return session ? view(session.identity, session.expiresAt) : { signUp: config.signUp };
      },
    },
    {
      method: "POST",
      path: "/sign-in/challenge",
      access: "anyone",
      async answer(call) {
        const { address, chainId } = await readConsoleBody(call, ChallengeSchema);
        const origin = signInOrigin(call.request, config.publicOrigin, call.isHttps);
        await attempts.count("challenge", callerSubject(call.address));
        return wallets.challenge({ address: getAddress(address), chainId, origin });
      },
    },
    {
      method: "POST",
      path: "/sign-in/wallet",
      access: "anyone",
      async answer(call) {
        const { nonce, signature, invitation } = await readConsoleBody(call, WalletSignInSchema);
        const origin = signInOrigin(call.request, config.publicOrigin, call.isHttps);
        const forgiveCaller = await attempts.count("ip", callerSubject(call.address));
        const challenge = await wallets.take(nonce, origin);
        const forgiveWallet = await attempts.count("wallet", challenge.address.toLowerCase());
        const wallet = await challenge.verify(signature);
        const account = await accounts.enter(wallet, invitation);
        await Promise.all([forgiveCaller(), forgiveWallet()]);
        return signedIn(call, { role: "developer", account });
      },
    },
    {
      method: "POST",
      path: "/sign-in/operator",
      access: "anyone",
      async answer(call) {
        const { token } = await readConsoleBody(call, OperatorSignInSchema);
        const forgive = await attempts.count("ip", callerSubject(call.address));
        if (!(await options.isAdminToken(token))) throw new ApiError("INVALID_ADMIN_TOKEN");
        await forgive();
        return signedIn(call, { role: "operator" });
      },
    },
    {
      method: "POST",
      path: "/sign-out",
      access: "anyone",
      async answer({ request, isHttps }) {
        const cookie = readSessionCookie(request, isHttps);
        if (cookie !== undefined) await sessions.end(cookie);
        const answer = dataResponse({ signedOut: true });
        answer.headers.set("set-cookie", sessionCookie("", 0, isHttps));
        return answer;
      },
    },
  ];
}
