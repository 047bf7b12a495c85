// report  ReactiveX/RxJava#5864
// leaks   io.reactivex.rxjava2:rxjava:2.2.21
// mended  use: take away what is done
// java    11
// class   io.reactivex.internal.observers.LambdaObserver
// number  50000
// holder  ALL\b|CompositeDisposable\b
// reason  (?i)\b(disposed|completed|done|finished)\b
// change  remove a disposable from the composite when it is done
package leaks;

import io.reactivex.Observable;
import io.reactivex.disposables.CompositeDisposable;
import io.reactivex.disposables.Disposable;

public final class RxJava5864 {
    static final CompositeDisposable ALL = new CompositeDisposable();

    public static void main(String[] args) {
        for (int i = 0; i < 50_000; i++) {
            byte[] answer = new byte[100];
            Disposable done = Observable.just(answer).subscribe(bytes -> answer[0]++);
            ALL.add(done);
            if (args.length > 0) {
                ALL.remove(done);
            }
        }
    }
}
