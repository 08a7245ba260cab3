import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/** A double-entry ledger: every posting moves money from one account to another. */
final class BankLedger {
    private static final int CURRENCY_SCALE = 2;

    enum AccountType {
        ASSET(1), EXPENSE(1), LIABILITY(-1), INCOME(-1);

        private final int sign;

        AccountType(int sign) {
            this.sign = sign;
        }
    }

    record Account(String code, String title, AccountType type) {
        Account {
            Objects.requireNonNull(type, "type");
            if (!code.matches("[0-9]{4}")) {
                throw new IllegalArgumentException("Account code must be four digits: " + code);
            }
        }
    }

    record Posting(LocalDate date, Account debit, Account credit, BigDecimal amount, String memo) {}

    static class LedgerException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        LedgerException(String message) {
            super(message);
        }
    }

    private final Map<String, Account> accounts = new LinkedHashMap<>();
    private final List<Posting> postings = new ArrayList<>();

    Account open(String code, String title, AccountType type) {
        Account account = new Account(code, title, type);
        if (accounts.putIfAbsent(code, account) != null) {
            throw new LedgerException("Account " + code + " is already open");
        }
        return account;
    }

    void post(LocalDate date, String debitCode, String creditCode, String amount, String memo) {
        BigDecimal value = new BigDecimal(amount).setScale(CURRENCY_SCALE, RoundingMode.HALF_EVEN);
        if (value.signum() <= 0) {
            throw new LedgerException("Amount must be positive, got " + value);
        }
        postings.add(new Posting(date, find(debitCode), find(creditCode), value, memo));
    }

    BigDecimal balance(Account account) {
        BigDecimal total = BigDecimal.ZERO.setScale(CURRENCY_SCALE);
        for (Posting posting : postings) {
            if (posting.debit().equals(account)) {
                total = total.add(posting.amount());
            }
            if (posting.credit().equals(account)) {
                total = total.subtract(posting.amount());
            }
        }
        return account.type().sign < 0 ? total.negate() : total;
    }

    Map<AccountType, BigDecimal> totalsByType() {
        return accounts.values().stream().collect(Collectors.groupingBy(
                Account::type,
                Collectors.reducing(BigDecimal.ZERO, this::balance, BigDecimal::add)));
    }

    List<Posting> statement() {
        return Collections.unmodifiableList(postings);
    }

    private Account find(String code) {
        Account account = accounts.get(code);
        if (account == null) {
            throw new LedgerException("Unknown account " + code);
        }
        return account;
    }

    public static void main(String[] args) {
        BankLedger ledger = new BankLedger();
        ledger.open("1000", "Current account", AccountType.ASSET);
        ledger.open("2000", "Crédit municipal", AccountType.LIABILITY);
        ledger.open("4000", "Piano lessons", AccountType.INCOME);
        ledger.open("5000", "Café and croissants", AccountType.EXPENSE);

        LocalDate day = LocalDate.of(2023, 3, 31);
        ledger.post(day, "1000", "4000", "320", "Eight lessons at €40");
        ledger.post(day.plusDays(1), "5000", "1000", "7.85", "Breakfast");
        ledger.post(day.plusWeeks(2), "1000", "2000", "1500.00", "Loan paid out");

        ledger.accounts.values().forEach(account -> System.out.printf(
                "%s  %-22s %12s%n", account.code(), account.title(), ledger.balance(account)));
        System.out.println("Totals: " + ledger.totalsByType());
        System.out.println(ledger.statement().size() + " postings recorded");
    }
}
