import { describe, expect, test } from "bun:test";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { startConsoleService } from "./service.ts";

const wallet = () => privateKeyToAccount(generatePrivateKey());

const start = () => startConsoleService({ signUp: "invitation" });

interface Made {
  readonly code: string;
  readonly invitation: { readonly id: string };
}

test("without anything configured, a new wallet needs an invitation", async () => {
  await using service = await startConsoleService({});
  const answer = await service.visitor().signIn(wallet());
  expect(answer).toMatchObject({ status: 403, code: "INVITATION_NEEDED" });
});

describe("by invitation", () => {
  test("one wallet gets in with it, no second one does, and the first needs it no more", async () => {
    await using service = await start();
    const operator = service.visitor();
    await operator.signInAsOperator();
    const { data } = await operator.ask<Made>("POST", "/invitations", { note: "Ada" });
    const [ada, bob] = [wallet(), wallet()];
    const invitation = data.code;
    expect((await service.visitor().signIn(ada, { invitation })).status).toBe(200);
    expect((await service.visitor().signIn(bob, { invitation })).code).toBe("INVITATION_NEEDED");
    expect((await service.visitor().signIn(ada)).status).toBe(200);
    const listed = await operator.ask("GET", "/invitations");
    expect(listed.data).toMatchObject([{ note: "Ada", state: "used" }]);
    expect(JSON.stringify(listed.data)).not.toContain(data.code);
  });

  test("of many wallets at once one gets in", async () => {
    await using service = await start();
    const operator = service.visitor();
    await operator.signInAsOperator();
    const { data } = await operator.ask<Made>("POST", "/invitations", {});
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        service.visitor().signIn(wallet(), { invitation: data.code }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test("a revoked one opens nothing", async () => {
    await using service = await start();
    const operator = service.visitor();
    await operator.signInAsOperator();
    const { data } = await operator.ask<Made>("POST", "/invitations", {});
    const path = `/invitations/${data.invitation.id}/revoke`;
    expect((await operator.ask("POST", path)).status).toBe(200);
    expect((await operator.ask("POST", path)).code).toBe("UNKNOWN_INVITATION");
    const answer = await service.visitor().signIn(wallet(), { invitation: data.code });
    expect(answer.code).toBe("INVITATION_NEEDED");
  });
});

test("off: nobody new gets in, not even with an invitation", async () => {
  await using service = await startConsoleService({ signUp: "off" });
  const operator = service.visitor();
  await operator.signInAsOperator();
  const { data } = await operator.ask<Made>("POST", "/invitations", {});
  const answer = await service.visitor().signIn(wallet(), { invitation: data.code });
  expect(answer).toMatchObject({ status: 403, code: "SIGN_UP_CLOSED" });
});
